// The chat page's files, as they lie in page/; cmake/write_page_files.cmake writes the source to this.
#pragma once
#include <span>
#include <string_view>

namespace axial::llm::server {

struct PageFile {
    std::string_view path, contentType, content;
};
// The first is the page itself, at "/".
std::span<const PageFile> pageFiles();

}  // namespace axial::llm::server
