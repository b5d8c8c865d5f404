#include "axial/llm/gguf_parser.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "axial/llm/gguf_metadata.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

// The specification's longest key; a longer one is a length that was misread.
constexpr std::size_t longestName = 65535;
constexpr std::uint32_t mostDimensions = 4;
constexpr int deepestArray = 4;

// The fewest bytes that an array takes: its element type and size.
constexpr std::uint64_t smallestArray = 4 + 8;

// ggml's number formats that are not in our table.
struct OtherFormat {
    std::uint32_t id;
    std::string_view name;
    std::string_view state;
};
constexpr std::string_view removed = "was removed from the GGUF format";
constexpr std::string_view unread = "is not supported by this version";
constexpr OtherFormat otherFormats[] = {
    {4, "Q4_2", removed},        {5, "Q4_3", removed},        {9, "Q8_1", unread},       {15, "Q8_K", unread},
    {31, "Q4_0_4_4", removed},   {32, "Q4_0_4_8", removed},   {33, "Q4_0_8_8", removed}, {36, "IQ4_NL_4_4", removed},
    {37, "IQ4_NL_4_8", removed}, {38, "IQ4_NL_8_8", removed}, {41, "Q1_0", unread},      {42, "Q2_0", unread},
};

std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
    return a * b;
}

std::string range(std::uint64_t start, std::uint64_t size) {
    return "[" + std::to_string(start) + ", " + std::to_string(start + size) + ")";
}

}  // namespace

GgufParser::GgufParser(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                       std::shared_ptr<const std::string> file)
    : bytes_(bytes), reader_(*file, bytes) {
    part_.file = std::move(file);
    part_.owner = std::move(owner);
    part_.bytes = bytes.size();
}

GgufPart GgufParser::parse() && {
    const Counts counts = readHeader();
    for (std::uint64_t i = 0; i < counts.keys; ++i) {
        reader_.enter("key", i, counts.keys);
        part_.metadataOffset.push_back(reader_.offset());
        part_.metadata.push_back(readKey());
    }
    std::vector<std::uint64_t> dataOffsets;
    for (std::uint64_t i = 0; i < counts.tensors; ++i) {
        reader_.enter("tensor", i, counts.tensors);
        part_.tensorOffset.push_back(reader_.offset());
        dataOffsets.push_back(readTensor());
    }
    placeData(dataOffsets);
    checkOverlap();
    return std::move(part_);
}

GgufParser::Counts GgufParser::readHeader() {
    constexpr std::string_view magic = "GGUF";
    const std::string_view start(reinterpret_cast<const char*>(bytes_.data()),
                                 std::min<std::size_t>(bytes_.size(), magic.size()));
    if (start != magic.substr(0, start.size()))
        reader_.fail("the file begins with " + shownName(start) + " and not with GGUF at offset 0" +
                     (start == "vers" ? ": if it is a Git LFS pointer, fetch the file itself" : ""));
    reader_.skip(magic.size(), "the magic number");
    const auto version = reader_.number<std::uint32_t>("the version");
    if ((version & 0xffffu) == 0 && version != 0)
        reader_.failUnsupported("the version at offset 4 is that of a big-endian file; convert it to little-endian");
    if (version != 2 && version != 3)
        reader_.failUnsupported("version " + std::to_string(version) + " at offset 4; only 2 and 3 can be read");
    part_.version = static_cast<int>(version);
    Counts counts{};
    counts.tensors = reader_.number<std::uint64_t>("the number of tensors");
    counts.keys = reader_.number<std::uint64_t>("the number of keys");
    if (counts.keys > mostKeys)
        reader_.fail(std::to_string(counts.keys) + " keys, and at most " + std::to_string(mostKeys) + " are read");
    if (counts.tensors > mostTensors)
        reader_.fail(std::to_string(counts.tensors) + " tensors, and at most " + std::to_string(mostTensors) +
                     " are read");
    return counts;
}

MetadataValue GgufParser::readKey() {
    const std::uint64_t offset = reader_.offset();
    MetadataValue value;
    value.file_ = part_.file.get();
    value.key_ = reader_.string("its name");
    if (value.key_.empty()) reader_.fail("the name at offset " + std::to_string(offset) + " is empty");
    reader_.named(value.key_);
    if (value.key_.size() > longestName)
        reader_.fail("the name at offset " + std::to_string(offset) + " is " + std::to_string(value.key_.size()) +
                     " bytes long; the longest allowed is " + std::to_string(longestName));
    value.type_ = readType("its type");
    readValue(value);
    return value;
}

MetadataType GgufParser::readType(std::string_view what) {
    const std::uint64_t offset = reader_.offset();
    const auto type = reader_.number<std::uint32_t>(what);
    if (type > static_cast<std::uint32_t>(MetadataType::f64))
        reader_.fail(std::string(what) + " at offset " + std::to_string(offset) + " is " + std::to_string(type) +
                     ", which no version of GGUF defines");
    return static_cast<MetadataType>(type);
}

void GgufParser::readValue(MetadataValue& value) {
    if (value.type_ == MetadataType::string) {
        const std::string_view text = reader_.string("its text");
        value.encoded_ = std::as_bytes(std::span(text.data(), text.size()));
        return;
    }
    if (value.type_ == MetadataType::array) {
        value.elementType_ = readType("its element type");
        value.size_ = reader_.number<std::uint64_t>("its number of elements");
    }
    const std::byte* const start = reader_.here();
    if (value.type_ == MetadataType::array)
        skipArray(value.elementType_, value.size_, 1);
    else
        skipArray(value.type_, 1, 0);
    value.encoded_ = {start, reader_.here()};
}

// Walks over `count` values of a type, so that what is decoded later is known to be there.
void GgufParser::skipArray(MetadataType type, std::uint64_t count, int depth) {
    switch (type) {
        case MetadataType::string:
            reader_.needAtLeast(count, 8, "strings");
            for (std::uint64_t i = 0; i < count; ++i) reader_.string("a string of it");
            break;
        case MetadataType::array:
            if (depth == deepestArray)
                reader_.fail("arrays are nested more than " + std::to_string(deepestArray) + " deep at offset " +
                             std::to_string(reader_.offset()));
            reader_.needAtLeast(count, smallestArray, "arrays");
            for (std::uint64_t i = 0; i < count; ++i) {
                const MetadataType element = readType("the element type of an array in it");
                skipArray(element, reader_.number<std::uint64_t>("the size of an array in it"), depth + 1);
            }
            break;
        case MetadataType::boolean:
            reader_.needAtLeast(count, 1, "booleans");
            for (std::uint64_t i = 0; i < count; ++i)
                if (const auto byte = reader_.number<std::uint8_t>("a boolean"); byte > 1)
                    reader_.fail("the boolean at offset " + std::to_string(reader_.offset() - 1) + " is " +
                                 std::to_string(byte) + ", and must be 0 or 1");
            break;
        default:
            reader_.needAtLeast(count, bytesOf(type), "values");
            reader_.skip(count * bytesOf(type), "its value");
    }
}

std::uint64_t GgufParser::alignment() const {
    constexpr std::string_view key = "general.alignment";
    constexpr std::uint64_t byDefault = 32;
    for (const MetadataValue& value : part_.metadata) {
        if (value.key() != key) continue;
        const std::uint64_t alignment = value.count();
        if (alignment == 0 || alignment % 8 != 0)
            throw FileError(*part_.file + ": key " + shownName(key) + " is " + std::to_string(alignment) +
                            ", and must be a multiple of 8 above 0");
        return alignment;
    }
    return byDefault;
}

// Everything about a tensor but its data's address, which is known when the last description has been read.
std::uint64_t GgufParser::readTensor() {
    const std::uint64_t start = reader_.offset();
    StoredTensor& tensor = part_.tensors.emplace_back();
    const std::string_view name = reader_.string("its name");
    if (name.empty()) reader_.fail("the name at offset " + std::to_string(start) + " is empty");
    reader_.named(name);
    if (name.size() > longestName)
        reader_.fail("the name at offset " + std::to_string(start) + " is " + std::to_string(name.size()) +
                     " bytes long; the longest allowed is " + std::to_string(longestName));
    const auto dimensions = reader_.number<std::uint32_t>("its number of dimensions");
    if (dimensions > mostDimensions)
        reader_.fail(std::to_string(dimensions) + " dimensions at offset " + std::to_string(reader_.offset() - 4) +
                     "; at most " + std::to_string(mostDimensions) + " are allowed");
    std::optional<std::uint64_t> elements = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
        const auto extent = reader_.number<std::uint64_t>("a dimension");
        if (extent == 0)
            reader_.fail("dimension " + std::to_string(i) + " at offset " + std::to_string(reader_.offset() - 8) +
                         " is 0");
        if (elements) elements = product(*elements, extent);
        tensor.extent.insert(tensor.extent.begin(), static_cast<std::size_t>(extent));
    }
    const std::uint64_t typeOffset = reader_.offset();
    const auto id = reader_.number<std::uint32_t>("its number format");
    const FormatInfo* const format = formatByGgufId(id);
    if (format == nullptr) {
        const auto known = std::ranges::find(otherFormats, id, &OtherFormat::id);
        const std::string text = "number format " + std::to_string(id) + " at offset " + std::to_string(typeOffset);
        if (known == std::end(otherFormats)) reader_.failUnsupported(text + " is unknown");
        reader_.failUnsupported(text + " (" + std::string(known->name) + ") " + std::string(known->state));
    }
    const std::uint64_t row = tensor.extent.empty() ? 1 : tensor.extent.back();
    if (row % format->blockElements != 0)
        reader_.fail("rows of " + std::to_string(row) + " values are not whole blocks of " +
                     std::to_string(format->blockElements) + ", which " + std::string(format->name) + " at offset " +
                     std::to_string(typeOffset) + " needs");
    const auto bytes = elements ? product(*elements / format->blockElements, format->blockBytes) : std::nullopt;
    if (!bytes || *bytes > bytes_.size())
        reader_.fail("the dimensions described at offset " + std::to_string(start) + " need " +
                     (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes, but the whole file has " +
                     std::to_string(bytes_.size()) + ": it is cut off or damaged");
    tensor.name = name;
    tensor.format = format->format;
    tensor.bytes = static_cast<std::size_t>(*bytes);
    tensor.mapping = part_.owner;
    return reader_.number<std::uint64_t>("its data's offset");
}

void GgufParser::placeData(const std::vector<std::uint64_t>& offsets) {
    if (part_.tensors.empty()) return;
    const std::uint64_t align = alignment();
    const std::uint64_t padding = (align - reader_.offset() % align) % align;
    const std::uint64_t start = reader_.offset() + padding;  // may lie beyond the end
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        StoredTensor& tensor = part_.tensors[i];
        reader_.enter("tensor", i, offsets.size());
        reader_.named(tensor.name);
        if (offsets[i] % align != 0)
            reader_.fail("its data's offset " + std::to_string(offsets[i]) + " in the data section, given at offset " +
                         std::to_string(part_.tensorOffset[i]) + ", is not a multiple of the alignment " +
                         std::to_string(align));
        if (start > bytes_.size() || offsets[i] > bytes_.size() - start ||
            tensor.bytes > bytes_.size() - start - offsets[i])
            reader_.fail("its " + std::to_string(tensor.bytes) + " bytes of data, " + std::to_string(offsets[i]) +
                         " into the data section that starts at offset " + std::to_string(start) +
                         ", lie beyond the file's end at " + std::to_string(bytes_.size()) +
                         ": it is cut off or damaged");
        tensor.data = bytes_.data() + start + offsets[i];
    }
}

void GgufParser::checkOverlap() const {
    std::vector<const StoredTensor*> ordered;
    for (const StoredTensor& tensor : part_.tensors) ordered.push_back(&tensor);
    std::ranges::sort(ordered, {}, &StoredTensor::data);
    for (std::size_t i = 1; i < ordered.size(); ++i) {
        const StoredTensor &before = *ordered[i - 1], &after = *ordered[i];
        if (before.data + before.bytes <= after.data) continue;
        const auto place = [this](const StoredTensor& tensor) {
            return shownName(tensor.name) + " at " +
                   range(static_cast<std::uint64_t>(tensor.data - bytes_.data()), tensor.bytes);
        };
        throw FileError(*part_.file + ": the data of tensor " + place(before) + " overlap those of tensor " +
                        place(after));
    }
}

}  // namespace axial::llm
