// An engine that checks its cache while it works: --verify-cache.
#pragma once
#include <cstddef>
#include <vector>

#include "open_model.h"

namespace axial::cli {

// The forward contract of one conversation, whose logits are compared, behind every n-th token of the reply, with those
// of the whole text computed at once into an empty cache. They are the same bits, or something is wrong.
class CheckedEngine {
  public:
    // `room` is the conversation's capacity. Borrows the engine.
    CheckedEngine(const Engine& engine, std::size_t room, llm::CacheFormats formats, std::size_t every)
        : engine_(engine), scratch_(engine.makeCache(room, formats)), every_(every) {}

    llm::KvCache makeCache(std::size_t capacity, llm::CacheFormats formats) const {
        return engine_.makeCache(capacity, formats);
    }
    llm::Logits forward(llm::KvCache& cache, std::span<const llm::TokenId> tokens, llm::LogitsOf which) const;

    // How many positions were compared, how many of them were not equal, and the largest difference of a logit.
    std::size_t compared() const { return compared_; }
    std::size_t unequal() const { return unequal_; }
    double largestDifference() const { return largest_; }

  private:
    const Engine& engine_;
    mutable llm::KvCache scratch_;
    mutable std::vector<llm::TokenId> tokens_;  // in the conversation's cache
    std::size_t every_;
    mutable std::size_t passes_ = 0, compared_ = 0, unequal_ = 0;
    mutable double largest_ = 0;
};

}  // namespace axial::cli
