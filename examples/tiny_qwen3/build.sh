#!/usr/bin/env bash
# Makes the bundled model again: vocabulary, two phases of training, export, evaluation, held-out set.
#   examples/tiny_qwen3/build.sh [WORK_FOLDER]      about an hour on two free cores
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:-$root/build/tiny_qwen3}
mkdir -p "$work" "$root/llm/bundled" "$root/tests/data"
cd "$here"
python3 vocabulary.py "$work/tokenizer.json"
python3 train.py "$work/tokenizer.json" "$work/first.npz" --steps 3000 --seed 1
python3 train.py "$work/tokenizer.json" "$work/second.npz" --steps 1500 --seed 2 --start "$work/first.npz" --length 256 --turns 8 --falling
python3 export.py "$work/tokenizer.json" "$work/second.npz" "$root/llm/bundled/axial-tiny-qwen3.gguf"
python3 heldout.py "$root/tests/data/tiny_qwen3_heldout.jsonl"
python3 evaluate.py "$work/tokenizer.json" "$root/llm/bundled/axial-tiny-qwen3.gguf" --split test --seed 2026 --each 120 --decode
