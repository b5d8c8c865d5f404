#include "checked_engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace axial::cli {

llm::Logits CheckedEngine::forward(llm::KvCache& cache, std::span<const llm::TokenId> tokens,
                                   llm::LogitsOf which) const {
    tokens_.resize(cache.length());
    llm::Logits logits = engine_.forward(cache, tokens, which);
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    if (passes_++ % every_ != 0) return logits;

    scratch_.truncate(0);
    const llm::Logits whole = engine_.forward(scratch_, tokens_, llm::LogitsOf::last);
    const std::span<const float> want = whole.values(), all = std::as_const(logits).values();
    const std::span<const float> got = all.last(want.size());
    ++compared_;
    if (std::memcmp(want.data(), got.data(), want.size_bytes()) == 0) return logits;
    ++unequal_;
    for (std::size_t i = 0; i < want.size(); ++i) {
        const double difference = std::abs(static_cast<double>(want[i]) - static_cast<double>(got[i]));
        largest_ = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(largest_, difference);
    }
    return logits;
}

}  // namespace axial::cli
