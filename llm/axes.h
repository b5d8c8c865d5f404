// The axis names of language models, beside those that the ops give a meaning to.
#pragma once
#include "axial/ops/axes.h"

namespace axial::llm {

using namespace axial::axes;

inline constexpr Axis<"embed"> embed;  // the residual stream's width
inline constexpr Axis<"ff"> ff;        // the feed-forward block's inner width
inline constexpr Axis<"vocab"> vocab;  // token ids
inline constexpr Axis<"layer"> layer;  // transformer blocks, first to last

}  // namespace axial::llm
