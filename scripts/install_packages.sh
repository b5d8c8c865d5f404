#!/bin/sh
# Installs what building and testing axial needs and is missing here (Debian 12 or newer; sudo where not root).
#   install_packages.sh build    what the command needs
#   install_packages.sh test     that, and what the tests need
#   install_packages.sh arm64    that, and what the tests for 64-bit ARM need: compiler, emulator, libraries of arm64
set -eu

build="g++ cmake ninja-build pkg-config libhwy-dev libboost-dev libpcre2-dev libutf8proc-dev nlohmann-json3-dev libcli11-dev libedit-dev"
test="doctest-dev librapidcheck-dev libbenchmark-dev clang-16 libclang-rt-16-dev python3 python3-pip chromium"
arm64="g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 librapidcheck-dev:arm64"
command -v npm >/dev/null || test="$test nodejs npm"  # node from elsewhere brings its own npm
case "${1:-build}" in
    build) test="" arm64="" ;;
    test) arm64="" ;;
esac

missing=""
for package in $build $test $arm64; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "missing:$missing; there is no apt-get here, so install them (or what your system calls them) yourself" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "missing:$missing; run as root, or install sudo" >&2; exit 1; }
    sudo=sudo
fi
echo "installing:$missing" >&2
log=$(mktemp)
added=""
if [ -n "$arm64" ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
    $sudo dpkg --add-architecture arm64
    added=1
fi
# A list of packages that is older than the archive gives 404s: refresh it first. No package is worth the loss of another.
if ! { $sudo apt-get update &&
       $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-remove --no-install-recommends $missing; } >"$log" 2>&1; then
    [ -z "$added" ] || $sudo dpkg --remove-architecture arm64 || true
    tail -20 "$log" >&2
    echo "installing failed; the whole output is in $log" >&2
    exit 1
fi
rm -f "$log"
