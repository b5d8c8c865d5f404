// A record as a drawing, in the language of Graphviz: dot -Tsvg.
#pragma once
#include <iosfwd>
#include <string_view>

#include "axial/tensor/graph_text.h"

namespace axial {

// Ops as rounded boxes, the darker the more of the time they took; parameters as cylinders with their formats; values
// as arrows with their axes and extents; scopes as frames. Equal layers are drawn once (graph_layers.h), and dashed
// arrows are what they hand to each other. `title` stands above.
void writeDrawing(std::ostream&, const Graph&, std::string_view title, Measurements = Measurements::shown);

}  // namespace axial
