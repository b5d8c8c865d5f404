#!/bin/sh
# Installs what is missing, builds the command, and opens the chat; with arguments, answers them as one prompt.
#   scripts/chat.sh
#   scripts/chat.sh "What is the capital of France?"
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

"$here/scripts/install_packages.sh" build
build="$here/build/release"
log=$(mktemp)
if ! { cmake -G Ninja -S "$here" -B "$build" -DCMAKE_BUILD_TYPE=Release -DAXIAL_BUILD_TESTS=OFF -DAXIAL_BUILD_BENCH=OFF -DAXIAL_BUILD_EXAMPLES=OFF &&
       { echo "building (some minutes the first time)" >&2; cmake --build "$build" --target axial_command; }; } >"$log"; then
    tail -30 "$log" >&2
    echo "the build failed; its whole output is in $log" >&2
    exit 1
fi
rm -f "$log"

if [ $# -gt 0 ]; then exec "$build/bin/axial" chat -p "$*"; fi
exec "$build/bin/axial" chat
