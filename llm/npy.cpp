#include "axial/llm/npy.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

static_assert(std::endian::native == std::endian::little, "the header below says little-endian");

// Magic, version 1.0, the length of the rest, and a Python dictionary, padded so that the values start at a multiple
// of 64 bytes.
std::string header(std::string_view type, std::span<const std::size_t> extents) {
    std::string shape;
    for (const std::size_t extent : extents) shape += std::to_string(extent) + ", ";
    if (extents.size() > 1) shape.resize(shape.size() - 2);
    if (extents.size() == 1) shape.pop_back();  // a tuple of one: "(7,)"
    std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    const std::size_t before = 10;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string all("\x93NUMPY\x01\x00", 8);
    all += static_cast<char>(text.size() & 0xff);
    all += static_cast<char>(text.size() >> 8);
    return all + text;
}

template <class T>
void write(const std::filesystem::path& path, std::string_view type, std::span<const T> values,
           std::span<const std::size_t> extents) {
    std::size_t product = 1;
    for (const std::size_t extent : extents) product *= extent;
    if (product != values.size())
        throw ShapeError("writeNpy: " + std::to_string(values.size()) + " values do not fill an array of " +
                         std::to_string(product));
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const bool opened = file.is_open();
    const std::string head = header(type, extents);
    file.write(head.data(), static_cast<std::streamsize>(head.size()));
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    file.close();
    if (file) return;
    const std::string reason = std::strerror(errno);
    std::error_code ignored;
    if (opened && std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
    throw FileError(path.string() + ": cannot be written: " + reason);
}

}  // namespace

void writeNpy(const std::filesystem::path& path, std::span<const float> values, std::span<const std::size_t> extents) {
    write(path, "<f4", values, extents);
}
void writeNpy(const std::filesystem::path& path, std::span<const std::int32_t> values,
              std::span<const std::size_t> extents) {
    write(path, "<i4", values, extents);
}

}  // namespace axial::llm
