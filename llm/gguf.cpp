#include "axial/llm/gguf.h"

#include <algorithm>

#include "axial/llm/gguf_parser.h"
#include "axial/llm/gguf_split.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {
namespace {

std::string_view keyOf(const MetadataValue& value) { return value.key(); }
std::string_view nameOfTensor(const StoredTensor& tensor) { return tensor.name; }

// The places of a list's entries in the order of their names; in file order among equals.
template <class Entry>
class NameIndex {
  public:
    using NameOf = std::string_view (*)(const Entry&);

    NameIndex(const std::vector<Entry>& entries, NameOf name) : name_(name), order_(entries.size()) {
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
        std::ranges::stable_sort(order_, {}, [&](std::uint32_t i) { return name_(entries[i]); });
    }
    const Entry* find(const std::vector<Entry>& entries, std::string_view name) const {
        const auto nameAt = [&](std::uint32_t i) { return name_(entries[i]); };
        const auto found = std::ranges::lower_bound(order_, name, {}, nameAt);
        return found != order_.end() && nameAt(*found) == name ? &entries[*found] : nullptr;
    }
    // Calls report(first, second) for two places with one name, if there are.
    template <class Report>
    void forDuplicate(const std::vector<Entry>& entries, Report report) const {
        const auto nameAt = [&](std::uint32_t i) { return name_(entries[i]); };
        const auto found = std::ranges::adjacent_find(order_, {}, nameAt);
        if (found != order_.end()) report(found[0], found[1]);
    }

  private:
    NameOf name_;
    std::vector<std::uint32_t> order_;
};

GgufPart parsePart(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                   const std::filesystem::path& path) {
    return GgufParser(std::move(owner), bytes, std::make_shared<const std::string>(path.string())).parse();
}

GgufPart openPart(const std::filesystem::path& path) {
    // Headers are read at once, and are mostly vocabulary.
    constexpr std::size_t usualHeader = std::size_t{16} << 20;
    auto file = std::make_shared<const MappedFile>(path);
    file->advise(MappedFile::Access::willNeed, 0, usualHeader);
    const std::span<const std::byte> bytes = file->bytes();
    GgufPart part = parsePart(std::move(file), bytes, path);
    for (StoredTensor& tensor : part.tensors) tensor.origin = Origin::onDisk;
    return part;
}

// All files of a model of which `opened` is one, in order.
std::vector<GgufPart> openAll(GgufPart opened, const std::filesystem::path& path) {
    std::vector<GgufPart> parts;
    const std::uint64_t total = splitCount(opened);
    if (total == 1) {
        parts.push_back(std::move(opened));
        return parts;
    }
    const std::optional<SplitName> name = parseSplitName(path.filename().string());
    if (!name)
        throw FileError(*opened.file + ": the model is split into " + std::to_string(total) +
                        " files (key split.count), but the file's name is not of the form NAME-0000I-of-0000N.gguf, "
                        "by which the others are found");
    checkSplitPlace(opened, name->place, name->total);
    std::uint64_t tensors = 0;
    for (std::uint64_t place = 1; place <= name->total; ++place) {
        if (place == name->place) {
            parts.push_back(std::move(opened));
        } else {
            const std::filesystem::path sibling = path.parent_path() / name->sibling(place);
            if (!std::filesystem::exists(sibling))
                throw FileError(sibling.string() + " is missing: " + path.string() + " is one of " +
                                std::to_string(total) + " files of a model, and all must be in one folder");
            parts.push_back(openPart(sibling));
            checkSplitPlace(parts.back(), place, name->total);
        }
        tensors += parts.back().tensors.size();
    }
    if (tensors > mostTensors)
        throw FileError(path.string() + ": the model has " + std::to_string(tensors) + " tensors, and at most " +
                        std::to_string(mostTensors) + " are read");
    for (const GgufPart& part : parts) checkSplitWhole(part, parts.front(), tensors);
    return parts;
}

}  // namespace

struct GgufFile::Contents {
    Contents(std::vector<GgufPart> parts, std::filesystem::path opened);

    std::filesystem::path path;
    GgufPart first;  // holds the metadata, and what they refer to
    std::uint64_t bytes = 0;
    std::vector<StoredTensor> tensors;
    NameIndex<MetadataValue> keys;
    NameIndex<StoredTensor> names;
};

namespace {

std::vector<StoredTensor> tensorsOf(std::vector<GgufPart>& parts) {
    if (parts.size() == 1) return std::move(parts[0].tensors);
    std::vector<StoredTensor> all;
    for (GgufPart& part : parts) std::ranges::move(part.tensors, std::back_inserter(all));
    return all;
}

std::uint64_t bytesOfAll(const std::vector<GgufPart>& parts) {
    std::uint64_t bytes = 0;
    for (const GgufPart& part : parts) bytes += part.bytes;
    return bytes;
}

void checkKeys(const GgufPart& part) {
    const auto fail = [&](std::size_t one, std::size_t other) {
        throw FileError(*part.file + ": key " + shownName(part.metadata[one].key()) +
                        " is a duplicate: it is at offset " + std::to_string(part.metadataOffset[one]) +
                        " and again at " + std::to_string(part.metadataOffset[other]));
    };
    NameIndex<MetadataValue>(part.metadata, keyOf).forDuplicate(part.metadata, fail);
}

// Where the description of tensor `place` of all files together is, for messages.
std::string whereDescribed(const std::vector<GgufPart>& parts, std::size_t place) {
    auto part = parts.begin();
    for (; place >= part->tensorOffset.size(); ++part) place -= part->tensorOffset.size();
    return "offset " + std::to_string(part->tensorOffset[place]) + " of " + *part->file;
}

}  // namespace

GgufFile::Contents::Contents(std::vector<GgufPart> parts, std::filesystem::path opened)
    : path(std::move(opened)),
      bytes(bytesOfAll(parts)),
      tensors(tensorsOf(parts)),
      keys(parts[0].metadata, keyOf),
      names(tensors, nameOfTensor) {
    for (const GgufPart& part : parts) checkKeys(part);
    names.forDuplicate(tensors, [&](std::size_t one, std::size_t other) {
        throw FileError(path.string() + ": tensor " + shownName(tensors[one].name) +
                        " is a duplicate: it is described at " + whereDescribed(parts, one) + " and again at " +
                        whereDescribed(parts, other));
    });
    first = std::move(parts[0]);
}

GgufFile::GgufFile(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

GgufFile GgufFile::open(const std::filesystem::path& path) {
    return GgufFile(std::make_shared<const Contents>(openAll(openPart(path), path), path));
}

GgufFile GgufFile::parse(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                         const std::filesystem::path& path) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0)
        throw ValueError("GgufFile::parse: the address of the bytes of " + path.string() + " is not a multiple of 8");
    std::vector<GgufPart> parts;
    parts.push_back(parsePart(std::move(owner), bytes, path));
    if (const std::uint64_t total = splitCount(parts[0]); total != 1)
        throw FileError(path.string() + ": the model is split into " + std::to_string(total) +
                        " files (key split.count), which can only be opened by path");
    return GgufFile(std::make_shared<const Contents>(std::move(parts), path));
}

const std::vector<MetadataValue>& GgufFile::metadata() const& { return contents_->first.metadata; }

const MetadataValue* GgufFile::find(std::string_view key) const { return contents_->keys.find(metadata(), key); }

const MetadataValue& GgufFile::require(std::string_view key) const {
    if (const MetadataValue* value = find(key)) return *value;
    throw FileError(*contents_->first.file + ": key " + shownName(key) +
                    " is missing, and this use of the file needs it");
}

const std::vector<StoredTensor>& GgufFile::tensors() const& { return contents_->tensors; }

const StoredTensor* GgufFile::findTensor(std::string_view name) const {
    return contents_->names.find(contents_->tensors, name);
}

const std::filesystem::path& GgufFile::path() const { return contents_->path; }
std::uint64_t GgufFile::fileBytes() const { return contents_->bytes; }
int GgufFile::version() const { return contents_->first.version; }

}  // namespace axial::llm
