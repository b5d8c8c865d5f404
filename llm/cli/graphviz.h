// Graphviz's program dot, if it is installed.
#pragma once
#include <string>

namespace axial::cli {

// Throws UnsupportedError, which says what to install, if there is no such program.
void requireGraphviz();
// The SVG that dot makes of a drawing in its language. Throws as requireGraphviz does, or FileError if dot fails.
std::string svgOf(const std::string& drawing);

}  // namespace axial::cli
