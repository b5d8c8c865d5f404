// Prints the results of a benchmark as llama-bench does, so that its readers and scripts need nothing new.
#pragma once
#include <memory>
#include <string>

#include "bench_plan.h"
#include "model_facts.h"

namespace axial::cli {

class BenchTable {
  public:
    virtual ~BenchTable() = default;
    virtual void begin() = 0;
    // One row; `facts` are of the model in `file`.
    virtual void row(const std::string& file, const ModelFacts& facts, const BenchResult& result) = 0;
    virtual void end() = 0;
};

// format: md, csv, json or jsonl. activations: as the flag says.
std::unique_ptr<BenchTable> makeBenchTable(const std::string& format, const std::string& activations);

}  // namespace axial::cli
