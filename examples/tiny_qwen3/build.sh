#!/usr/bin/env bash
# Makes the bundled model again, from nothing: vocabulary, training, export, held-out set, evaluation.
#   examples/tiny_qwen3/build.sh [WORK_FOLDER]
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

python3 vocabulary.py "$words"
python3 train.py "$words" "$work/long.npz" --steps 11000 --refusals 32
# The model then knows too much: it answers questions that it should refuse. A short second training on more of those makes
# it refuse too much. The mean of both is the best of all three, by every measure.
python3 train.py "$words" "$work/short.npz" --start "$work/long.npz" --steps 1500 --rate 0.3 --refusals 50 --seed 2
python3 average.py "$work/mean.npz" "$work/long.npz" "$work/short.npz"
python3 train.py "$words" "$work/weights.npz" --start "$work/mean.npz" --steps 600 --rate 0.2 --refusals 40 --seed 3
python3 export.py "$words" "$work/weights.npz" "$model"
python3 heldout.py "$root/tests/data/tiny_qwen3_heldout.jsonl"
python3 evaluate.py "$words" "$model" --split dev --seed 2 --each 300 --decode --show 0
