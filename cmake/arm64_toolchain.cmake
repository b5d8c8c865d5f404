# 64-bit ARM from another machine, with Debian's cross compiler and its packages of that architecture (multiarch); what
# is built runs under qemu-user. scripts/test_arm64.sh installs all of that.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
find_program(CMAKE_CXX_COMPILER NAMES aarch64-linux-gnu-g++-12 aarch64-linux-gnu-g++ REQUIRED)

set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

# The loader and the libraries lie where the programs look for them, in multiarch folders, so there is no -L. `max` has
# all that the emulator knows of, dotprod and i8mm among it.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-cpu;max CACHE STRING "What runs programs for 64-bit ARM")
