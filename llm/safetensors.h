// Tensors in the safetensors format (specification: the README of huggingface/safetensors): eight bytes with the length
// of a JSON header, the header {"name": {"dtype", "shape", "data_offsets"}, ..., "__metadata__"}, and the numbers.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/stored_tensor.h"

namespace axial::llm {

// The tensors of one file, checked as a whole, or those of a model in several files. A handle: copies share the
// mapping.
class Safetensors {
  public:
    // A .safetensors file; a .safetensors.index.json, whose weight_map says which tensor is in which file beside it; or
    // a folder with model.safetensors.index.json or else model.safetensors in it. With an index, exactly the files that
    // it names are read, each of them has to be there, in the same folder, and has to hold what the index says.
    // FileError for a file that cannot be read or contradicts itself (a header beyond the file, data that overlap,
    // leave gaps or do not fit the shape, a name or a key twice, metadata that are not texts), naming the tensor and
    // the offsets; UnsupportedError for a dtype that the specification does not know. Headers above 100 MB, as the
    // specification has it, more than 2^17 tensors and more than 8 axes are refused.
    static Safetensors open(const std::filesystem::path& path);
    // The same for the bytes of one file, kept alive by `owner`. `path` is for messages.
    static Safetensors parse(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                             const std::filesystem::path& path);

    const std::vector<StoredTensor>& tensors() const&;  // in the order of their names
    void tensors() && = delete;
    const StoredTensor* find(std::string_view name) const;

    // A tensor of a dtype that is checked but not read, such as U8 or F8_E4M3: no harm while nobody needs it.
    struct Unread {
        std::string name, dtype;
    };
    const std::vector<Unread>& unread() const&;  // in the order of their names
    void unread() && = delete;

    const std::filesystem::path& path() const;  // as it was opened
    std::uint64_t fileBytes() const;            // of all files

  private:
    struct Contents;
    explicit Safetensors(std::shared_ptr<const Contents> contents);

    std::shared_ptr<const Contents> contents_;
};

}  // namespace axial::llm
