// FNV-1a (Fowler, Noll and Vo), 64 bits: a small hash that tells things apart which nobody made to look alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace axial::llm {

class Fnv1a {
  public:
    Fnv1a& add(std::span<const std::byte> bytes) {
        for (const std::byte byte : bytes) add(std::to_integer<unsigned char>(byte));
        return *this;
    }
    Fnv1a& add(std::string_view text) {
        for (const char byte : text) add(static_cast<unsigned char>(byte));
        return *this;
    }
    // Its eight bytes, the lowest first.
    Fnv1a& addNumber(std::uint64_t number) {
        for (int i = 0; i < 64; i += 8) add(static_cast<unsigned char>(number >> i & 255u));
        return *this;
    }
    std::uint64_t value() const { return hash_; }

  private:
    void add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001B3u; }

    std::uint64_t hash_ = 0xCBF29CE484222325u;
};

}  // namespace axial::llm
