// Prints what opbench has measured.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "axial/bench/measure.h"

namespace axial::cli {

class OpBenchTable {
  public:
    virtual ~OpBenchTable() = default;
    // Before the first row: all that will be measured.
    virtual void begin(std::span<const bench::OpCase> cases) = 0;
    virtual void row(const bench::OpCase&, const bench::Limits&, const bench::Measured&) = 0;
    virtual void end(std::span<const bench::Limits> limits) = 0;
};

// format: table, json or jsonl; target: the instruction set.
std::unique_ptr<OpBenchTable> makeOpBenchTable(const std::string& format, const std::string& target);

}  // namespace axial::cli
