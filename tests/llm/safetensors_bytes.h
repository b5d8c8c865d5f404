// Safetensors files made byte by byte.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "axial/llm/safetensors.h"

namespace axial::llm::test {

// A file with this header and so many bytes of numbers: 0, 1, 2, ...
inline std::string safetensorsOf(const std::string& header, std::size_t data) {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    bytes += header;
    for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
    return bytes;
}

// The bytes at an address that is a multiple of eight, read as a file m.safetensors.
inline Safetensors parsedSafetensors(const std::string& bytes) {
    auto owner = std::make_shared<std::vector<std::uint64_t>>(bytes.size() / 8 + 1);
    std::memcpy(owner->data(), bytes.data(), bytes.size());
    const auto* begin = reinterpret_cast<const std::byte*>(owner->data());
    return Safetensors::parse(owner, {begin, bytes.size()}, "m.safetensors");
}

}  // namespace axial::llm::test
