// The axis names that ops give a meaning to. Any other name is the caller's own. An axis is its name: redeclaring one
// of these elsewhere, inline constexpr Axis<"seq"> seq, gives the same axis.
#pragma once
#include "axial/tensor/axis.h"

namespace axial::axes {

inline constexpr Axis<"seq"> seq;          // position of a token among those computed together; of a query
inline constexpr Axis<"key"> key;          // position of a key and its value: seq, seen from the other side
inline constexpr Axis<"head"> head;        // query heads
inline constexpr Axis<"kvHead"> kvHead;    // heads of keys and values, each shared by head / kvHead query heads
inline constexpr Axis<"group"> group;      // the query heads of one kvHead: head is [kvHead, group]
inline constexpr Axis<"channel"> channel;  // within a head
inline constexpr Axis<"expert"> expert;    // of a mixture
inline constexpr Axis<"slot"> slot;        // rank among the chosen: the best is slot 0
inline constexpr Axis<"pair"> pair;        // two channels that are rotated together
inline constexpr Axis<"turn", 2> turn;     // the cosine and the sine of an angle

}  // namespace axial::axes
