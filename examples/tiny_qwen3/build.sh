#!/usr/bin/env bash
# Makes the bundled model again: vocabulary, training, export, held-out set, evaluation.
#   examples/tiny_qwen3/build.sh [WORK_FOLDER]
# The calls of train.py are those that the file in llm/bundled came from: 4800 steps, 9.8 million tokens.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${1:-$root/build/tiny_qwen3}
mkdir -p "$work" "$root/llm/bundled" "$root/tests/data"
cd "$here"
words=$work/tokenizer.json
model=$root/llm/bundled/axial-tiny-qwen3.gguf

# Keeps freed memory for the next step instead of giving it back to the system each time.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456

train() { # OUT, then the options of train.py
  local out=$1
  shift
  python3 train.py "$words" "$work/$out.npz" "$@"
}

python3 vocabulary.py "$words"
train 1 --steps 500 --seed 1
train 2 --steps 500 --seed 2 --start "$work/1.npz"
train 3 --steps 1100 --seed 3 --start "$work/2.npz" --falling
train 4 --steps 2200 --seed 4 --start "$work/3.npz" --falling --stop 400
train 5 --steps 2500 --seed 5 --start "$work/4.npz" --falling --stop 800
train 6 --steps 700 --seed 6 --start "$work/5.npz" --falling --rate 0.68
train 7 --steps 800 --seed 7 --start "$work/6.npz" --falling --rate 0.5
python3 export.py "$words" "$work/7.npz" "$model"
python3 heldout.py "$root/tests/data/tiny_qwen3_heldout.jsonl"
python3 evaluate.py "$words" "$model" --split test --seed 2026 --each 120 --decode
