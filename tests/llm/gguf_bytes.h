// GGUF files made in memory, byte by byte, for tests of what reads them.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "axial/llm/gguf.h"
#include "axial/tensor/error.h"

namespace axial::llm::test {

using Bytes = std::vector<std::byte>;

// Reads a file that is in memory.
inline GgufFile parsed(Bytes bytes, const std::string& path = "memory.gguf") {
    auto owner = std::make_shared<const Bytes>(std::move(bytes));
    return GgufFile::parse(owner, *owner, path);
}

// The message with which such a file is refused, or "accepted".
inline std::string refusal(Bytes bytes) {
    try {
        parsed(std::move(bytes));
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

inline Bytes bytesOfHex(std::string_view hex) {
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
}

// Puts a file together: GgufBytes().key("a", std::uint32_t{1}).tensor("t", {4}, 0, 0).bytes(16).
class GgufBytes {
  public:
    template <class Number>
    GgufBytes& key(std::string_view name, Number value) {
        return keyHead(name, typeOf<Number>()).number(keys_, value);
    }
    GgufBytes& key(std::string_view name, std::string_view text) {
        return keyHead(name, MetadataType::string).string(keys_, text);
    }
    GgufBytes& key(std::string_view name, const char* text) { return key(name, std::string_view(text)); }
    template <class Number>
    GgufBytes& array(std::string_view name, const std::vector<Number>& values) {
        arrayHead(name, typeOf<Number>(), values.size());
        for (const Number value : values) number(keys_, value);
        return *this;
    }
    GgufBytes& array(std::string_view name, const std::vector<std::string>& texts) {
        arrayHead(name, MetadataType::string, texts.size());
        for (const std::string& text : texts) string(keys_, text);
        return *this;
    }
    // A key with a type number and value bytes of one's own.
    GgufBytes& rawKey(std::string_view name, std::uint32_t type, const Bytes& value) {
        string(keys_, name).number(keys_, type);
        keys_.insert(keys_.end(), value.begin(), value.end());
        ++keyCount_;
        return *this;
    }
    // Dimensions in the file's order, the innermost first.
    GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions, std::uint32_t format,
                      std::uint64_t offset) {
        string(tensors_, name).number(tensors_, static_cast<std::uint32_t>(dimensions.size()));
        for (const std::uint64_t dimension : dimensions) number(tensors_, dimension);
        ++tensorCount_;
        return number(tensors_, format).number(tensors_, offset);
    }
    GgufBytes& version(std::uint32_t version) {
        version_ = version;
        return *this;
    }
    // The file, with as many bytes of data: 0, 1, 2 and so on.
    Bytes bytes(std::size_t data = 0, std::size_t alignment = 32) {
        Bytes all;
        for (const char c : std::string_view("GGUF")) all.push_back(static_cast<std::byte>(c));
        number(all, version_).number(all, tensorCount_).number(all, keyCount_);
        all.insert(all.end(), keys_.begin(), keys_.end());
        all.insert(all.end(), tensors_.begin(), tensors_.end());
        if (data > 0)
            while (all.size() % alignment != 0) all.push_back(std::byte{0});
        for (std::size_t i = 0; i < data; ++i) all.push_back(static_cast<std::byte>(i & 0xff));
        return all;
    }

  private:
    template <class Number>
    static MetadataType typeOf() {
        if (std::is_same_v<Number, std::uint8_t>) return MetadataType::u8;
        if (std::is_same_v<Number, std::int8_t>) return MetadataType::i8;
        if (std::is_same_v<Number, std::uint16_t>) return MetadataType::u16;
        if (std::is_same_v<Number, std::int16_t>) return MetadataType::i16;
        if (std::is_same_v<Number, std::uint32_t>) return MetadataType::u32;
        if (std::is_same_v<Number, std::int32_t>) return MetadataType::i32;
        if (std::is_same_v<Number, std::uint64_t>) return MetadataType::u64;
        if (std::is_same_v<Number, std::int64_t>) return MetadataType::i64;
        if (std::is_same_v<Number, float>) return MetadataType::f32;
        if (std::is_same_v<Number, double>) return MetadataType::f64;
        static_assert(std::is_arithmetic_v<Number>);
        return MetadataType::boolean;
    }
    template <class Number>
    GgufBytes& number(Bytes& to, Number value) {
        static_assert(std::is_arithmetic_v<Number>);
        const auto* from = reinterpret_cast<const std::byte*>(&value);
        to.insert(to.end(), from, from + sizeof value);
        return *this;
    }
    GgufBytes& string(Bytes& to, std::string_view text) {
        number(to, std::uint64_t{text.size()});
        const auto* from = reinterpret_cast<const std::byte*>(text.data());
        to.insert(to.end(), from, from + text.size());
        return *this;
    }
    GgufBytes& keyHead(std::string_view name, MetadataType type) {
        ++keyCount_;
        return string(keys_, name).number(keys_, static_cast<std::uint32_t>(type));
    }
    void arrayHead(std::string_view name, MetadataType element, std::uint64_t size) {
        keyHead(name, MetadataType::array).number(keys_, static_cast<std::uint32_t>(element)).number(keys_, size);
    }

    Bytes keys_, tensors_;
    std::uint64_t keyCount_ = 0, tensorCount_ = 0;
    std::uint32_t version_ = 3;
};

}  // namespace axial::llm::test
