#!/bin/bash
# Builds the fuzzers (clang) and runs each from a corpus of the test and reference data. Fails on a finding, which it
# leaves in build/fuzz/findings.
#   scripts/fuzz.sh [SECONDS_EACH]        60 when not given
set -eu
seconds=${1:-60}
cd "$(dirname "$0")/.."
build=build/fuzz

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
rm -rf $build/seeds
python3 fuzz/make_corpus.py tests/data ../shared/oracle $build/seeds
mkdir -p $build/findings

found=0
for source in fuzz/*_fuzz.cpp; do
    name=$(basename "$source" .cpp)
    corpus=$build/corpus/${name%_fuzz}
    mkdir -p "$corpus"
    # No input may take longer than five seconds (there are sanitizers, and perhaps other work) or ask for more than
    # 64 MB at once.
    log=$build/$name.log
    if "$build/bin/$name" "$corpus" "$build/seeds/${name%_fuzz}" -max_total_time="$seconds" -timeout=5 \
        -malloc_limit_mb=64 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix=$build/findings/"$name"- >"$log" 2>&1; then
        echo "$name: nothing found, $(grep -E '^stat::number_of_executed_units' "$log" | grep -oE '[0-9]+$') inputs in $seconds s"
    else
        found=1
        tail -40 "$log"
        echo "$name: found something; the whole output is in $log"
    fi
done
exit $found
