// One head's map as few bytes: what stands in a page of attention_page.h and is read there by pages/attention_data.js.
#pragma once
#include <cstdint>
#include <string>

#include "axial/llm/attention_maps.h"

namespace axial::llm {

// The probabilities of the keys behind the first are said in so many steps of what the first leaves over,
//   code(query, key) = round(steps * p(query, key) / (1 - p(query, 0))),
// since the first token often takes nearly everything ("attention sink"). So a probability is known to 0.05 %, and so
// is its share when the first token is left aside.
inline constexpr unsigned attentionSteps = 1000;

// The bytes of a head, for n tokens:
//   n times 2 bytes, least significant first: round(65535 * p(query, 0))
//   n times 2 bytes: round(4096 * the row's entropy in bits)
//   the codes of queries 1 to n - 1, keys 1 to query each, by arithmetic coding (below).
//
// A code of b bits (its length: 0 for 0, 10 for 1000) is said as binary decisions: for i = 0, 1, ... below 10 whether
// b > i, until it is not; then the bits behind the leading one, highest first. The probability that a decision is "yes"
// is learned: 2^15 of 2^16 at first, and after each decision a 16th nearer to 65535 or 0, rounded down, but never
// under 16. There is one for each i and lengths of the codes to the left (query, key - 1) and above (query - 1, key),
// of which those with key 0 or key > query are 0; and one for each b and each bit behind the leading one. The decisions
// narrow a range of 32-bit numbers, [low, high], first all of them: "yes" keeps what is up to low + floor((high - low)
// / 2^16) * probability, "no" what is above; the highest bytes on which both ends agree are written and shifted out.
// Four bytes of low end it.
std::string attentionCode(const AttentionMaps& maps, std::size_t place, std::size_t head);

}  // namespace axial::llm
