#!/bin/bash
# Installs what is missing, builds, and runs every test: plain, under the address and undefined-behaviour sanitizers, the
# thread team and the ops under the thread sanitizer, tensor and ops on 64-bit ARM under an emulator, and the fuzzers for
# a minute each.
#   scripts/test.sh          all of it (about half an hour on 2 cores)
#   scripts/test.sh quick    the plain tests alone
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here" || exit 1
passed=0
failed=0
skipped=0
started=$SECONDS

say() { echo "== $* (after $((SECONDS - started)) s)"; }

# count LOG: adds the closing line of a ctest run to the totals.
count() {
    local line
    line=$(grep -E 'tests passed, [0-9]+ tests? failed out of [0-9]+' "$1" | tail -1)
    if [ -z "$line" ]; then failed=$((failed + 1)); return; fi
    local bad all
    bad=$(sed -E 's/.* ([0-9]+) tests? failed out of.*/\1/' <<<"$line")
    all=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
    failed=$((failed + bad))
    passed=$((passed + all - bad))
}

# run PRESET TARGETS CTEST_ARGUMENTS...: configure, build the targets (split at spaces), test.
run() {
    local preset=$1 targets=$2 log status
    shift 2
    log=$(mktemp)
    say "building $preset"
    if ! cmake --preset "$preset" >"$log" 2>&1 || ! { grep -h 'the Rust component' "$log"; true; } ||
       ! cmake --build --preset "$preset" --target $targets >"$log" 2>&1; then
        grep -E -A5 'error|FAILED' "$log" | head -60
        echo "building $preset failed; the whole output is in $log"
        failed=$((failed + 1))
        return
    fi
    say "testing $preset"
    ctest --test-dir "build/$preset" -j 2 --output-on-failure "$@" >"$log" 2>&1
    status=$?
    show "$log"
    count "$log"
    [ $status = 0 ] || echo "the whole output is in $log"
}

# show LOG: passed tests are many; what is shown is what failed, what was skipped and the sum.
show() { grep -vE '^ +(Start +)?[0-9]+: |^ *[0-9]+/[0-9]+ Test .* Passed ' "$1" | grep -v '^$' | tail -80; }

arm64() {
    local log status
    log=$(mktemp)
    say "64-bit ARM"
    scripts/test_arm64.sh >"$log" 2>&1
    status=$?
    show "$log"
    if [ $status = 77 ]; then
        skipped=$((skipped + 1))
    else
        count "$log"
        [ $status = 0 ] || echo "the whole output is in $log"
    fi
}

scripts/install_packages.sh test || exit 1
scripts/fetch_peers.sh build/peers
[ -d build/peers/llama.cpp ] && export AXIAL_LLAMA_CPP="$here/build/peers/llama.cpp"
[ -d build/peers/python ] && export AXIAL_PYTHON_PEERS="$here/build/peers/python"
[ -d build/peers/node ] && export AXIAL_NODE_PEERS="$here/build/peers/node"
[ -f build/peers/smollm2.gguf ] && export AXIAL_SMOLLM2="$here/build/peers/smollm2.gguf"

run dev all
if [ "${1:-}" != quick ]; then
    run asan-ubsan all -E '^(diagnostics|tree)$'  # what does not run has nothing to be sanitized
    TSAN_OPTIONS=halt_on_error=1 run tsan "tensor_tests ops_tests" -L 'tensor|ops'
    arm64
    say "fuzzing"
    if scripts/fuzz.sh "${AXIAL_FUZZ_SECONDS:-60}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi
say "done"
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ]
