// How axial trace shows the values of a forward pass: a line each, JSON, or a .npy file each.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/named_values.h"
#include "axial/llm/value_statistics.h"

namespace axial::cli {

class TraceWriter {
  public:
    virtual ~TraceWriter() = default;
    virtual void take(const llm::NamedValue&) = 0;
    virtual void finish() = 0;  // after the last value
};

// output: "text", "json", or the folder for <layer>/<name>.npy. `first`: how many values of each are shown.
std::unique_ptr<TraceWriter> makeTraceWriter(const std::string& output, const std::vector<llm::TokenId>& tokens,
                                             std::size_t first);

// "-0.01234", in `width` columns if it is shorter.
std::string shortNumber(double value, int width = 0);
// Minimum, maximum, mean and rms in four columns, and the heads of those columns.
std::string statisticsColumns(const llm::ValueStatistics&);
std::string statisticsHeads();
// "; 3 of 1344 are NaN, 1 is infinite", or nothing.
std::string faultsOf(const llm::ValueStatistics&);

}  // namespace axial::cli
