#include "axial/llm/gguf_split.h"

#include <algorithm>
#include <string_view>

#include "axial/llm/gguf_parser.h"
#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

constexpr std::size_t placeDigits = 5;

const MetadataValue* findKey(const GgufPart& part, std::string_view key) {
    const auto found = std::ranges::find(part.metadata, key, &MetadataValue::key);
    return found == part.metadata.end() ? nullptr : &*found;
}

std::string fiveDigits(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(placeDigits - std::min(placeDigits, digits.size()), '0') + digits;
}

// FileError unless the key is there with that value; `meaning` says what the value has to be.
void checkCount(const GgufPart& part, std::string_view key, std::uint64_t wanted, const std::string& meaning) {
    const MetadataValue* value = findKey(part, key);
    if (value != nullptr && value->count() == wanted) return;
    throw FileError(*part.file + ": key " + std::string(key) + " is " +
                    (value == nullptr ? "missing" : std::to_string(value->count())) + ", but " + meaning +
                    "; are the files of one model?");
}

}  // namespace

std::string SplitName::sibling(std::uint64_t otherPlace) const {
    return prefix + "-" + fiveDigits(otherPlace) + "-of-" + fiveDigits(total) + ".gguf";
}

std::optional<SplitName> parseSplitName(const std::string& fileName) {
    constexpr std::string_view form = "-00000-of-00000.gguf";
    constexpr std::size_t placeAt = 1, totalAt = 10;
    if (fileName.size() <= form.size()) return std::nullopt;
    const std::string_view tail = std::string_view(fileName).substr(fileName.size() - form.size());
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool digit = tail[i] >= '0' && tail[i] <= '9';
        if (form[i] == '0' ? !digit : tail[i] != form[i]) return std::nullopt;
    }
    SplitName name{fileName.substr(0, fileName.size() - form.size()),
                   std::stoull(std::string(tail.substr(placeAt, placeDigits))),
                   std::stoull(std::string(tail.substr(totalAt, placeDigits)))};
    if (name.place < 1 || name.place > name.total) return std::nullopt;
    return name;
}

std::uint64_t splitCount(const GgufPart& part) {
    const MetadataValue* count = findKey(part, "split.count");
    return count == nullptr ? 1 : std::max<std::uint64_t>(count->count(), 1);
}

void checkSplitPlace(const GgufPart& part, std::uint64_t place, std::uint64_t total) {
    checkCount(part, "split.count", total, "the file names say " + std::to_string(total));
    checkCount(part, "split.no", place - 1, "by its name the file is number " + std::to_string(place - 1));
}

void checkSplitWhole(const GgufPart& part, const GgufPart& first, std::uint64_t tensors) {
    checkCount(part, "split.tensors.count", tensors, "all files together have " + std::to_string(tensors) + " tensors");
    constexpr std::string_view key = "general.architecture";
    const MetadataValue *own = findKey(part, key), *wanted = findKey(first, key);
    if (own != nullptr && wanted != nullptr && own->string() != wanted->string())
        throw FileError(*part.file + ": key " + std::string(key) + " is " + shownName(own->string()) + ", but in " +
                        *first.file + " it is " + shownName(wanted->string()) + "; are the files of one model?");
}

}  // namespace axial::llm
