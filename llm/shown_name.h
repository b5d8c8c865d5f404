// Names that a file brings, made fit to stand in a message.
#pragma once
#include <string>
#include <string_view>

namespace axial::llm {

// A name from a file as it may stand in a message: as it is if it is short and visible ASCII, else in quotes, at most
// 80 bytes of it, control characters and what is not ASCII as \xNN.
std::string shownName(std::string_view name);

}  // namespace axial::llm
