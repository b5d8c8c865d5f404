#include "axial/tensor/error.h"
#include "commands.h"

namespace axial::cli {

int runOpBench(const Options&) {
    throw UnsupportedError(
        "this build has no benchmarks of ops: Google Benchmark was not found (Debian's libbenchmark-dev), or "
        "AXIAL_BUILD_BENCH is off");
}

}  // namespace axial::cli
