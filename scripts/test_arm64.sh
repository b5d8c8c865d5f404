#!/bin/bash
# The tests of tensor and ops on 64-bit ARM: installs what is missing, builds them with Debian's cross compiler, and runs
# them under qemu-user. Ends with status 77, and says so, where they cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 1
started=$SECONDS

if [ "$(uname -m)" = aarch64 ]; then
    echo "64-bit ARM: skipped, this machine is one, so the plain tests are those"
    exit 77
fi
if ! scripts/install_packages.sh arm64; then
    echo "64-bit ARM: skipped, its compiler, emulator or libraries cannot be installed here"
    exit 77
fi
log=$(mktemp)
if ! cmake --preset arm64 >"$log" 2>&1 || ! cmake --build --preset arm64 >"$log" 2>&1; then
    grep -E -A5 'error|FAILED' "$log" | head -60
    echo "64-bit ARM: building failed; the whole output is in $log"
    exit 1
fi
rm -f "$log"
echo "64-bit ARM: built after $((SECONDS - started)) s"
ctest --preset arm64 -j "$(nproc)"
status=$?
echo "64-bit ARM: done after $((SECONDS - started)) s"
exit $status
