// Any bytes as a saved cache, as they are or put into a file with right checksums: an error of ours, or the tokens and
// rows that the file says.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/cache_file.h"
#include "axial/llm/checked_file.h"
#include "axial/tensor/error.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

// A model that caches are made for; nothing is computed.
class Shape final : public Model {
  public:
    Shape() {
        hyperparameters_.layers = 2;
        hyperparameters_.kvHeads = 1;
        hyperparameters_.channels = 32;
        hyperparameters_.vocabulary = 100;
    }
    const Hyperparameters& hyperparameters() const override { return hyperparameters_; }
    Logits forward(std::span<const Continuation>) const override { std::abort(); }

  private:
    Hyperparameters hyperparameters_;
};

// A file of this process, in memory where the system has such a place.
class File {
  public:
    File() {
        std::error_code unknown;
        const bool memory = std::filesystem::is_directory("/dev/shm", unknown);
        path_ = (memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
                ("axial-fuzz-" + std::to_string(::getpid()) + ".cache");
    }
    ~File() { std::filesystem::remove(path_); }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const Shape model;
    static const ModelIdentity identity{"fuzz", 0x0123456789ABCDEF};
    static const File file;
    const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] & 1) {
        CheckedWriter writer(file.path(), {"AXIALKVC", "a saved cache", 1}, content.size());
        writer.write(std::as_bytes(std::span(content)));
        writer.commit();
    } else {
        std::ofstream(file.path(), std::ios::binary | std::ios::trunc) << content;
    }
    try {
        const SavedCache saved = loadCache(file.path(), identity, model, 1000);
        require(saved.cache.length() == saved.tokens.size() && saved.cache.capacity() == 1000);
        for (const TokenId token : saved.tokens) require(token >= 0 && token < 100);
        std::string rows(reinterpret_cast<const char*>(saved.tokens.data()), saved.tokens.size() * sizeof(TokenId));
        saved.cache.visit([&](std::span<const std::byte> piece) {
            rows.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        });
        if (data[0] & 1) require(content.ends_with(rows));
    } catch (const axial::Error&) {
    }
    return 0;
}
