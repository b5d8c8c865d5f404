// Experts that do not all fit in memory: read from disk when they are wanted, and kept as long as there is room.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "axial/llm/expert_layout.h"
#include "axial/llm/piece_file.h"

namespace axial::llm {

struct ExpertStoreOptions {
    std::uint64_t budget = 0;  // bytes of memory for experts
    std::size_t used = 1;      // how many experts of a layer one token uses
    std::size_t readers = 8;   // threads that read
    double halfLife = 64;      // rounds after which a use counts half (use_scores.h)
};

// What was done since the store was made.
struct ExpertStatistics {
    std::uint64_t wanted = 0;     // experts asked for by forEach
    std::uint64_t resident = 0;   // of them: those that were in memory
    std::uint64_t underWay = 0;   // of them: those that were being read ahead
    std::uint64_t read = 0;       // experts read, for whatever reason
    std::uint64_t readAhead = 0;  // of them: because they were expected
    std::uint64_t aheadUsed = 0;  // of these: those that were then wanted
    std::uint64_t bytesRead = 0;  // from disk
    double waited = 0;            // seconds in which forEach had nothing to do but wait
};

// Experts are dropped when others need their place, the one with the lowest use score first (use_scores.h); pinned ones
// never are. For use by several threads at once: more than the places in a pool may be wanted together, and are then
// given one after the other.
class ExpertStore {
  public:
    // The pieces of each layer's experts, in these files. Throws ValueError as layOutExperts does, and std::bad_alloc
    // if the system does not give the address space; the memory itself is taken as it is used.
    ExpertStore(std::vector<std::unique_ptr<const PieceFile>> files, std::vector<ExpertPieces> layers,
                const ExpertStoreOptions& options);
    ~ExpertStore();
    ExpertStore(const ExpertStore&) = delete;
    ExpertStore& operator=(const ExpertStore&) = delete;

    std::size_t layers() const;
    std::size_t experts(std::size_t layer) const;
    const ExpertLayout& layout() const;

    struct Given {
        std::int32_t expert;
        std::span<const std::byte* const> pieces;  // where each begins
    };
    using Use = std::function<void(std::span<const Given>)>;
    // Gives each of `wanted` (none twice) once: calls use(some of them) on this thread, first with those that are in
    // memory, while the others are read, then with those that have arrived, in any order. The bytes stay until use()
    // returns. FileError if one cannot be read; what use() throws is passed on. Either way the store is as good as
    // before, and what failed is tried again the next time. ValueError for an expert that there is not.
    void forEach(std::size_t layer, std::span<const std::int32_t> wanted, const Use& use);
    // These are likely to be wanted when the layer is visited next, the likeliest first: reads them as far as there is
    // room, when nothing else is to be read. Never waits; errors are left to who wants the expert.
    void expect(std::size_t layer, std::span<const std::int32_t> likely);
    // Reads these, and keeps them for good: as many as fit, but at least `used` places of a pool stay for others.
    // Waits until they are there, and tells how far it is, 0 to 1. FileError if one cannot be read.
    void pin(std::span<const std::pair<std::size_t, std::int32_t>> layersAndExperts,
             const std::function<void(double fraction)>& onProgress = {});

    // For each layer, how often each expert was wanted.
    std::vector<std::vector<std::uint64_t>> uses() const;
    ExpertStatistics statistics() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace axial::llm
