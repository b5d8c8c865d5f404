#include "axial/ops/attention.h"
#include "axial/ops/dot_fused.h"
#include "axial/ops/einsum.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/gather.h"
#include "axial/ops/largest.h"
#include "axial/ops/norm.h"
#include "axial/ops/reduce.h"
#include "axial/ops/rope.h"
#include "axial/ops/softmax.h"
#include "axial/ops/structure.h"

using namespace axial;
using namespace axial::axes;

constexpr Axis<"embed"> embed;
constexpr Axis<"embd"> embd;
constexpr Axis<"ff"> ff;
constexpr Axis<"vocab"> vocab;
constexpr Axis<"rgb", 3> rgb;

using Stream = Tensor<float, seq, embed>;
using Heads = Tensor<float, seq, head, channel>;
using Keys = Tensor<float, key, kvHead, channel>;

//: Summing over an axis that one side lacks
//= dot: [head, channel, ff] has no axis embed
auto f(const Stream& x, const Weight<head, channel, ff>& w) { return dot(x, w, embed); }

//: A misspelt axis
//= dot: [seq, embed] has no axis embd
auto f(const Stream& x, const Weight<ff, embed>& w) { return dot(x, w, embd); }

//: Summing over nothing
//= dot: name the axes to sum over
auto f(const Stream& x, const Weight<ff, embed>& w) { return dot(x, w); }

//: A number where an axis is to be named
//= dot: embed(...) is a number along embed; name the axis alone
auto f(const Stream& x, const Weight<ff, embed>& w) { return dot(x, w, embed(3)); }

//: Summing over an axis of a weight that is not its last
//= dot: [head, channel] are not the trailing axes of Weight [head, channel, embed]
auto f(const Heads& x, const Weight<head, channel, embed>& w) { return dot(x, w, head, channel); }

//: Summing over an axis of two sizes
//= dot: axis channel is 64 on the left and 128 on the right
auto f(const Tensor<float, seq, Axis<"channel", 64>{}>& x, const Tensor<float, key, Axis<"channel", 128>{}>& y) {
    return dot(x.rename(seq, ff), y.rename(key, embed), Axis<"channel", 64>());
}

//: Axes of one name, of which one has a fixed size
//= add: axis rgb is 3 on the left and of any size on the right; rename() one of them
auto f(const Tensor<float, seq, rgb>& x, const Tensor<float, seq, Axis<"rgb">{}>& y) { return add(x, y); }

//: Integers where floats are wanted
//= dot: works on float values, but [seq, embed] holds integers or doubles
auto f(const Tensor<std::int32_t, seq, embed>& x, const Weight<ff, embed>& w) { return dot(x, w, embed); }

//: One of several projections does not fit
//= dotAll: [head, channel, ff] has no axis embed
auto f(const Stream& x, const Weight<ff, embed>& a, const Weight<head, channel, ff>& b) {
    return dotAll(x, embed, a, b);
}

//: A gate that does not fit
//= swigluDot: [ff, vocab] has no axis embed
auto f(const Stream& x, const Weight<ff, vocab>& w) { return swigluDot(x, w, w, embed); }

//: A sum with a product of other axes
//= addDot: wants [seq, ff] but got [seq, embed]
auto f(Stream&& x, const Stream& y, const Weight<ff, embed>& w) { return addDot(std::move(x), y, w, embed); }

//: An axis of the result that no operand has
//= einsum: no operand has [vocab] of the result
auto f(const Stream& x, const Tensor<float, ff, embed>& y) { return einsum(into(seq, vocab), x, y); }

//: A forgotten rename in an equation
//= einsum: [seq] of [seq, embed] is in no other operand and not in the result; sum over it first
auto f(const Stream& x, const Tensor<float, ff, embed>& y) { return einsum(into(ff), x, y); }

//: Operands that share no axis
//= add: [seq] and [embed] share no axis; if an outer product is meant, say outer()
auto f(const Tensor<float, seq>& x, const Tensor<float, embed>& y) { return add(x, y); }

//: An outer product that is none
//= outer: [seq, embed] and [embed] share [embed]; mul() is meant
auto f(const Stream& x, const Tensor<float, embed>& y) { return outer(x, y); }

//: Two fixed sizes in a sum
//= add: axis channel is 64 on the left and 128 on the right
auto f(const Tensor<float, seq, Axis<"channel", 64>{}>& x, const Tensor<float, seq, Axis<"channel", 128>{}>& y) {
    return add(x, y);
}

//: Adding in place what has more axes
//= +=: [seq, embed] has axes that [embed] lacks: [seq]
void f(Tensor<float, embed>& x, const Stream& y) { x += y; }

//: A gate and its input that share no axis
//= swiglu: [seq] and [ff] share no axis; if an outer product is meant, say outer()
auto f(const Tensor<float, seq>& x, const Tensor<float, ff>& y) { return swiglu(x, y); }

//: Halves of an axis that is not there
//= splitGated: [seq, embed] has no axis ff
auto f(const Stream& x) { return splitGated(x, ff, ff); }

//: A norm whose weight has another axis
//= rmsNormMul weight: [ff] has axes that [seq, embed] lacks: [ff]
auto f(const Stream& x, const Weight<ff>& w) { return rmsNormMul(x, w, 1e-6f); }

//: A norm whose weight is a matrix
//= rmsNormMul weight: wants one axis but got [ff, embed]
auto f(const Stream& x, const Weight<ff, embed>& w) { return rmsNormMul(x, w, 1e-6f); }

//: Rotating what has no positions
//= ropeHalf: [head, channel] has no axis seq
auto f(const Tensor<float, head, channel>& x, const RopeTable& table) { return ropeHalf(x, table); }

//: Rotating what has no channels
//= ropeInterleaved: [seq, embed] has no axis channel
auto f(const Stream& x, const RopeTable& table) { return ropeInterleaved(x, table); }

//: A norm of each head with a weight of another axis
//= rmsNormMulRopeHalf weight: wants [channel] but got [embed]
auto f(const Heads& x, const Weight<embed>& w, const RopeTable& table) {
    return rmsNormMulRopeHalf(x, w, table, 1e-6f);
}

//: Keys that were not renamed
//= groupedAttention k: wants [key, kvHead, channel] but got [seq, head, channel]
auto f(const Heads& q, const Heads& k, const Heads& v) { return groupedAttention(q, k, v); }

//: Queries that were not split into heads
//= groupedAttention q: [seq, embed] has no axis head
auto f(const Stream& q, const Keys& k, const Keys& v) { return groupedAttention(q, k, v); }

//: A bias along an axis that scores do not have
//= groupedAttention bias: [seq, embed] has axes that [head, seq, key] lacks: [embed]
auto f(const Heads& q, const Keys& k, const Keys& v, const Stream& bias) { return groupedAttention(q, k, v, bias); }

//: A distribution along an axis that is not there
//= softmax: [seq, embed] has no axis key
auto f(const Stream& x) { return softmax(x, key); }

//: A sum along an axis that is not there
//= sum: [seq, embed] has no axis key
auto f(const Stream& x) { return sum(x, key); }

//: The largest along an axis that is not there
//= argmax: [seq, embed] has no axis vocab
auto f(const Stream& x) { return argmax(x, vocab); }

//: The k largest along an axis that is not there
//= topK: [seq, embed] has no axis vocab
auto f(const Stream& x) { return topK(x, vocab, slot, 4); }

//: The k largest under a name that is taken
//= topK: [seq] already has an axis seq
auto f(const Stream& x) { return topK(x, embed, seq, 4); }

//: Experts chosen where there are none
//= routerTopK: [seq, embed] has no axis expert
auto f(const Stream& x) { return routerTopK(x, expert, 2, true); }

//: Rows of a table that has no such axis
//= gather: [vocab, embed] has no axis ff
auto f(const Weight<vocab, embed>& table, const Tensor<std::int32_t, seq>& ids) { return gather(table, ff, ids); }

//: Row numbers that are floats
//= gather: the ids [seq] must be std::int32_t
auto f(const Weight<vocab, embed>& table, const Tensor<float, seq>& ids) { return gather(table, vocab, ids); }

//: Picking along the axis that a weight's blocks run along
//= gather: axis embed is the last of Stored [vocab, embed], along which its blocks run
auto f(const Weight<vocab, embed>& table, const Tensor<std::int32_t, seq>& ids) { return gather(table, embed, ids); }

//: Parts with different axes
//= concat: wants [seq, embed] but got [seq, ff]
auto f(const Stream& x, const Tensor<float, seq, ff>& y) { return concat(seq, x, y); }

//: Positions along an axis that is not there
//= select: [seq, embed] has no axis key
auto f(const Stream& x) { return select(x, key, {1, 2}); }

//: Copying into other axes
//= copy: wants [seq, ff] but got [seq, embed]
void f(const Stream& x, const View<float, seq, ff>& y) { copy(x, y); }

//: A function for replace() that changes the axes
//= replace: wants [seq, embed] but got [seq, ff]
auto project(const Stream& x, const Weight<ff, embed>& w) { return dot(x, w, embed); }
void f(Stream& x, const Weight<ff, embed>& w) {
    x.replace([&](Stream&& v) { return project(v, w); });
}
