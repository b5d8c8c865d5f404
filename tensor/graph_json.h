// A record as JSON, for other programs; docs/graph.md says what its members mean.
#pragma once
#include <iosfwd>
#include <string_view>

#include "axial/tensor/graph_text.h"

namespace axial {

void writeJson(std::ostream&, const Graph&, std::string_view title, Measurements = Measurements::shown);

}  // namespace axial
