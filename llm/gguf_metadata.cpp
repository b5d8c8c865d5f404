#include "axial/llm/gguf_metadata.h"

#include <array>
#include <limits>
#include <optional>
#include <type_traits>

#include "axial/llm/gguf_reader.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

struct TypeInfo {
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array<TypeInfo, 13> types = {{{"u8", 1},
                                             {"i8", 1},
                                             {"u16", 2},
                                             {"i16", 2},
                                             {"u32", 4},
                                             {"i32", 4},
                                             {"f32", 4},
                                             {"boolean", 1},
                                             {"string", 0},
                                             {"array", 0},
                                             {"u64", 8},
                                             {"i64", 8},
                                             {"f64", 8}}};

constexpr std::size_t mostDecoded = std::size_t{1} << 21;

// Decodes one number and hands it, in its own type, to a function.
template <class Use>
auto withNumber(MetadataType type, const std::byte* from, Use use) {
    switch (type) {
        case MetadataType::u8:
            return use(littleEndian<std::uint8_t>(from));
        case MetadataType::i8:
            return use(littleEndian<std::int8_t>(from));
        case MetadataType::u16:
            return use(littleEndian<std::uint16_t>(from));
        case MetadataType::i16:
            return use(littleEndian<std::int16_t>(from));
        case MetadataType::u32:
            return use(littleEndian<std::uint32_t>(from));
        case MetadataType::i32:
            return use(littleEndian<std::int32_t>(from));
        case MetadataType::i64:
            return use(littleEndian<std::int64_t>(from));
        case MetadataType::u64:
            return use(littleEndian<std::uint64_t>(from));
        case MetadataType::f32:
            return use(littleEndian<float>(from));
        case MetadataType::f64:
            return use(littleEndian<double>(from));
        default:
            return use(littleEndian<std::uint8_t>(from));  // boolean
    }
}

// Nothing if it is above the largest std::int64_t.
std::optional<std::int64_t> integerAt(MetadataType type, const std::byte* from) {
    return withNumber(type, from, [](auto number) -> std::optional<std::int64_t> {
        if constexpr (std::is_same_v<decltype(number), std::uint64_t>)
            if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
        return static_cast<std::int64_t>(number);
    });
}

bool isInteger(MetadataType type) {
    switch (type) {
        case MetadataType::f32:
        case MetadataType::f64:
        case MetadataType::string:
        case MetadataType::array:
            return false;
        default:
            return true;
    }
}

bool isNumber(MetadataType type) {
    return type != MetadataType::boolean && type != MetadataType::string && type != MetadataType::array;
}

bool isString(MetadataType type) { return type == MetadataType::string; }

}  // namespace

std::string_view nameOf(MetadataType type) { return types[static_cast<std::size_t>(type)].name; }
std::size_t bytesOf(MetadataType type) { return types[static_cast<std::size_t>(type)].bytes; }

void MetadataValue::fail(const std::string& text) const {
    throw FileError(*file_ + ": key " + shownName(key_) + " " + text);
}

void MetadataValue::failType(const char* wanted) const {
    std::string is(nameOf(type_));
    if (type_ == MetadataType::array) is += " of " + std::string(nameOf(elementType_));
    fail("has the type " + is + ", but " + wanted + " is needed");
}

std::int64_t MetadataValue::integer() const {
    if (!isInteger(type_)) failType("an integer");
    const std::optional<std::int64_t> value = integerAt(type_, encoded_.data());
    if (!value) fail("is " + std::to_string(littleEndian<std::uint64_t>(encoded_.data())) + ", which is too large");
    return *value;
}

std::uint64_t MetadataValue::count() const {
    const std::int64_t value = integer();
    if (value < 0) fail("is " + std::to_string(value) + ", and must not be negative");
    return static_cast<std::uint64_t>(value);
}

double MetadataValue::number() const {
    if (!isNumber(type_)) failType("a number");
    return withNumber(type_, encoded_.data(), [](auto number) { return static_cast<double>(number); });
}

bool MetadataValue::boolean() const {
    if (type_ != MetadataType::boolean) failType("a boolean");
    return encoded_[0] != std::byte{0};
}

std::string_view MetadataValue::string() const {
    if (type_ != MetadataType::string) failType("a string");
    return {reinterpret_cast<const char*>(encoded_.data()), encoded_.size()};
}

MetadataType MetadataValue::elementType() const {
    if (type_ != MetadataType::array) failType("an array");
    return elementType_;
}

std::size_t MetadataValue::size() const {
    if (type_ != MetadataType::array) failType("an array");
    return static_cast<std::size_t>(size_);
}

std::span<const std::byte> MetadataValue::arrayOf(bool (*accepts)(MetadataType), const char* wanted) const {
    if (type_ != MetadataType::array || !accepts(elementType_)) failType(wanted);
    if (size_ > mostDecoded)
        fail("has " + std::to_string(size_) + " elements, and at most " + std::to_string(mostDecoded) + " are read");
    return encoded_;
}

std::vector<std::string_view> MetadataValue::strings() const {
    const std::span<const std::byte> bytes = arrayOf(isString, "an array of strings");
    GgufReader reader(*file_, bytes);
    std::vector<std::string_view> all;
    all.reserve(size_);
    for (std::uint64_t i = 0; i < size_; ++i) all.push_back(reader.string("a string"));
    return all;
}

std::vector<std::int64_t> MetadataValue::integers() const {
    const std::byte* from = arrayOf(isInteger, "an array of integers").data();
    std::vector<std::int64_t> all;
    all.reserve(size_);
    for (std::uint64_t i = 0; i < size_; ++i, from += bytesOf(elementType_)) {
        const std::optional<std::int64_t> value = integerAt(elementType_, from);
        if (!value)
            fail("has element " + std::to_string(i) + " of " + std::to_string(littleEndian<std::uint64_t>(from)) +
                 ", which is too large");
        all.push_back(*value);
    }
    return all;
}

std::vector<double> MetadataValue::numbers() const {
    const std::byte* from = arrayOf(isNumber, "an array of numbers").data();
    std::vector<double> all;
    all.reserve(size_);
    for (std::uint64_t i = 0; i < size_; ++i, from += bytesOf(elementType_))
        all.push_back(withNumber(elementType_, from, [](auto number) { return static_cast<double>(number); }));
    return all;
}

}  // namespace axial::llm
