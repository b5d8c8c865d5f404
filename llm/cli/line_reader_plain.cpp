#include <iostream>

#include "line_reader.h"
#include "terminal.h"

namespace axial::cli {

class LineReader::Editor {};

LineReader::LineReader() = default;
LineReader::~LineReader() = default;

std::optional<std::string> LineReader::read(const std::string& prompt) {
    note(prompt);
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
}

}  // namespace axial::cli
