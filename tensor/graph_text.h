// A record as text, to be read from top to bottom.
#pragma once
#include <iosfwd>

#include "axial/tensor/graph.h"

namespace axial {

// What of a record is shown. Times and memory differ from run to run; all the rest is the same for the same run.
enum class Measurements { shown, leftOut };

// Each op with its operands, each on a line with its name, axes, extents and format, and its results; equal layers once
// (graph_layers.h). %3 is the result of op 3 of the record, %3.1 the second of several.
void writeText(std::ostream&, const Graph&, Measurements = Measurements::shown);

}  // namespace axial
