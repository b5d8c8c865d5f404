// Files for the store of experts whose bytes are known without keeping them, and which can be made to fail or to wait.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "axial/llm/expert_store.h"
#include "axial/tensor/error.h"

namespace axial::llm::test {

// The byte at an offset.
inline std::byte byteAt(std::uint64_t offset) {
    const std::uint64_t mixed = (offset + 1) * 0x9E3779B97F4A7C15u;
    return static_cast<std::byte>(mixed >> 56);
}

// What happens to reads, shared by whoever looks on.
struct FakeDisk {
    std::mutex mutex;
    std::condition_variable changed;
    bool held = false;                 // reads wait
    std::vector<std::uint64_t> begun;  // offsets, in the order in which reads began
    std::function<bool(std::uint64_t)> fails = [](std::uint64_t) { return false; };
    std::chrono::microseconds takes{0};

    void hold(bool on) {
        {
            const std::lock_guard lock(mutex);
            held = on;
        }
        changed.notify_all();
    }
    void failWhere(std::function<bool(std::uint64_t)> offset) {
        const std::lock_guard lock(mutex);
        fails = std::move(offset);
    }
    void waitForBegun(std::size_t count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return begun.size() >= count; });
    }
};

class FakeFile final : public PieceFile {
  public:
    explicit FakeFile(std::shared_ptr<FakeDisk> disk) : disk_(std::move(disk)) {}
    void read(std::uint64_t offset, std::span<std::byte> into, std::size_t needed) const override {
        bool fail = false;
        {
            std::unique_lock lock(disk_->mutex);
            disk_->begun.push_back(offset);
            disk_->changed.notify_all();
            disk_->changed.wait(lock, [&] { return !disk_->held; });
            fail = disk_->fails(offset);
        }
        if (offset % block != 0 || into.size() % block != 0 || needed > into.size())
            throw FileError("fake: no whole blocks");
        if (disk_->takes.count() != 0) std::this_thread::sleep_for(disk_->takes);
        if (fail) throw FileError("fake: cannot be read from offset " + std::to_string(offset));
        for (std::size_t i = 0; i < into.size(); ++i) into[i] = i < needed ? byteAt(offset + i) : std::byte{0xEE};
    }

  private:
    std::shared_ptr<FakeDisk> disk_;
};

// Layers of experts of three pieces, which begin anywhere.
inline std::vector<ExpertPieces> madeLayers(std::size_t layers, std::size_t experts,
                                            const std::vector<std::size_t>& pieceBytes) {
    std::vector<ExpertPieces> all(layers);
    std::uint64_t offset = 100;
    for (ExpertPieces& layer : all) {
        layer.each = pieceBytes.size();
        for (std::size_t e = 0; e < experts; ++e)
            for (const std::size_t bytes : pieceBytes) {
                layer.pieces.push_back({0, offset, bytes});
                offset += bytes + 32;
            }
    }
    return all;
}

inline std::uint64_t slotBytes(const ExpertPieces& layer) {
    std::uint64_t sum = 0;
    for (std::size_t p = 0; p < layer.each; ++p) sum += placeBytes(layer.pieces[p].bytes);
    return sum;
}

struct FakeStore {
    std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
    std::vector<ExpertPieces> layers;
    std::unique_ptr<ExpertStore> store;

    FakeStore(std::vector<ExpertPieces> made, ExpertStoreOptions options) : layers(std::move(made)) {
        std::vector<std::unique_ptr<const PieceFile>> files;
        files.push_back(std::make_unique<FakeFile>(disk));
        store = std::make_unique<ExpertStore>(std::move(files), layers, options);
    }
    // The experts that were given with the right bytes, in the order in which they came.
    std::vector<std::int32_t> fetch(std::size_t layer, const std::vector<std::int32_t>& wanted) {
        std::vector<std::int32_t> good;
        store->forEach(layer, wanted, [&](std::span<const ExpertStore::Given> given) {
            for (const auto& [expert, pieces] : given)
                if (right(layer, expert, pieces)) good.push_back(expert);
        });
        return good;
    }
    bool right(std::size_t layer, std::int32_t expert, std::span<const std::byte* const> pieces) const {
        const ExpertPieces& l = layers[layer];
        if (pieces.size() != l.each) return false;
        for (std::size_t p = 0; p < l.each; ++p) {
            const ExpertPiece& piece = l.pieces[static_cast<std::size_t>(expert) * l.each + p];
            for (std::size_t i = 0; i < piece.bytes; ++i)
                if (pieces[p][i] != byteAt(piece.offset + i)) return false;
        }
        return true;
    }
};

}  // namespace axial::llm::test
