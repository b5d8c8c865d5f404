// The files of a model that is split as NAME-0000I-of-0000N.gguf.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace axial::llm {

struct GgufPart;

// What a file name of that form says: its place counts from 1.
struct SplitName {
    std::string prefix;
    std::uint64_t place = 0, total = 0;

    // The name of another file of the same model.
    std::string sibling(std::uint64_t otherPlace) const;
};
// Nothing if the name has another form, or its place is not one of 1 to total.
std::optional<SplitName> parseSplitName(const std::string& fileName);

// How many files the model has to which this one belongs, by its split.count: 1 if it is whole.
std::uint64_t splitCount(const GgufPart& part);
// FileError unless the file says that it is number `place` (from 1) of `total`.
void checkSplitPlace(const GgufPart& part, std::uint64_t place, std::uint64_t total);
// FileError if the file's split.tensors.count is not the number of tensors of all files together, or if its
// architecture is not that of the first.
void checkSplitWhole(const GgufPart& part, const GgufPart& first, std::uint64_t tensors);

}  // namespace axial::llm
