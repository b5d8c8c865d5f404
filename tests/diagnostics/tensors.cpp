#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

using namespace axial;

constexpr Axis<"seq"> seq;
constexpr Axis<"key"> key;
constexpr Axis<"embed"> embed;
constexpr Axis<"embd"> embd;
constexpr Axis<"head"> head;
constexpr Axis<"channel"> channel;
constexpr Axis<"expert"> expert;
constexpr Axis<"ff"> ff;
constexpr Axis<"rgb", 3> rgb;

using Stream = Tensor<float, seq, embed>;
Stream normed(Stream&& x);
void read(View<const float, seq, embed> x);

//: Naming an axis that is not there
//= extent: [seq, embed] has no axis embd
auto f(const Stream& x) { return x.extent(embd); }

//: A number where an axis is to be named
//= narrow: seq(...) is a number along seq; name the axis alone
auto f(const Stream& x) { return x.narrow(seq(1), 0, 1); }

//: A position along an axis that is not there
//= index: [seq, embed] has no axis head
auto f(const Stream& x) { return x(head(3)); }

//: Two positions along one axis
//= index: axis seq stands twice in [seq, seq]; rename one of them
auto f(const Stream& x) { return x(seq(1), seq(2)); }

//: Renaming an axis that is not there
//= rename: [seq, embed] has no axis key
auto f(const Stream& x) { return x.rename(key, seq); }

//: Renaming to a name that is taken
//= rename: [seq, embed] already has an axis embed
auto f(const Stream& x) { return x.rename(seq, embed); }

//: Narrowing an axis that is not there
//= narrow: [seq, embed] has no axis ff
auto f(const Stream& x) { return x.narrow(ff, 0, 2); }

//: Splitting an axis that is not there
//= split: [seq, embed] has no axis ff
auto f(const Stream& x) { return x.split(ff, head(2), channel); }

//: Splitting into a name that is taken
//= split: axis seq stands twice in [seq, head, seq]; rename one of them
auto f(const Stream& x) { return x.split(embed, head(2), seq); }

//: Splitting without sizes
//= split: [head, channel] leaves 2 sizes open, but only one can be worked out; say the others, as in head(2)
auto f(const Stream& x) { return x.split(embed, head, channel); }

//: Splitting into more axes than a tensor can have
//= split: [a, b, c, d, e, f, g, h, embed] are 9 axes, but at most 8 are possible
auto f(const Stream& x) {
    return x.split(seq, Axis<"a">()(1), Axis<"b">()(1), Axis<"c">()(1), Axis<"d">()(1), Axis<"e">()(1), Axis<"f">()(1),
                   Axis<"g">()(1), Axis<"h">());
}

//: Merging an axis that is not there
//= merge: [seq, embed] has no axis head
auto f(const Stream& x) { return x.merge(ff, seq, head); }

//: Merging axes in another order than they lie
//= merge: [embed, seq] are not adjacent in that order in [seq, embed]; use as(...) and copy() first
auto f(const Stream& x) { return x.merge(ff, embed, seq); }

//: Merging into a name that is taken
//= merge: [seq, head, channel] already has an axis seq
auto f(const Tensor<float, seq, head, channel>& x) { return x.merge(seq, head, channel); }

//: Reordering without naming all axes
//= as: wants [seq, embed] but got [embed]
auto f(const Stream& x) { return x.as(embed); }

//: An argument with other axes
//= View: wants [seq, embed] but got [seq, ff]
void f(const Tensor<float, seq, ff>& x) { read(x); }

//: Handing over a tensor whose axes lie in another order
//= Tensor&&: wants [seq, embed] but got [embed, seq]
auto f(Tensor<float, embed, seq>&& x) { return normed(std::move(x)); }

//: An axis twice in one tensor
//= View: axis seq stands twice in [seq, embed, seq]; rename one of them
void f(Tensor<float, seq, embed, seq>&);
auto g(Tensor<float, seq, embed, seq>& x) { return x.size(); }

//: More axes than a tensor can have
//= View: [a, b, c, d, e, f, g, h, seq] are 9 axes, but at most 8 are possible
auto f(const View<float, Axis<"a">{}, Axis<"b">{}, Axis<"c">{}, Axis<"d">{}, Axis<"e">{}, Axis<"f">{}, Axis<"g">{},
                  Axis<"h">{}, seq>& x) {
    return x.size();
}

//: Elements of a type that a tensor does not have
//= View<T, axes...>: T is float, double, std::int8_t, std::int16_t, std::int32_t or std::int64_t
auto f(const View<bool, seq>& x) { return x.size(); }

//: A function for replace() that changes the axes
//= replace: wants [seq, embed] but got [seq, ff]
Tensor<float, seq, ff> widened(Stream&& x);
void f(Stream& x) { x.replace(widened); }

//: Copying a tensor without saying copy()
//= g++: use of deleted function
//= clang: call to implicitly-deleted copy constructor
Stream f(const Stream& x) {
    Stream y = x;
    return y;
}

//: A view of a temporary tensor
//= g++: use of deleted function
//= clang: call to deleted member function 'narrow'
Stream make();
auto f() { return make().narrow(seq, 0, 1); }

//: A fixed size that the parts of a split do not have
//= split: axis wide always has 12 positions, but [head=3, channel=5] has 15
auto f(const Tensor<float, Axis<"wide", 12>{}>& x) {
    return x.split(Axis<"wide", 12>{}, Axis<"head", 3>{}, Axis<"channel", 5>());
}

//: A fixed size that merged axes do not have
//= merge: axis wide always has 12 positions, but [rgb=3, five=5] has 15
auto f(const Tensor<float, rgb, Axis<"five", 5>{}>& x) { return x.merge(Axis<"wide", 12>{}, rgb, Axis<"five", 5>()); }

//: Renaming an axis of one fixed size to another
//= rename: axis rgb always has 3 positions, but [rgba=4] has 4
auto f(const Tensor<float, seq, rgb>& x) { return x.rename(rgb, Axis<"rgba", 4>()); }

//: Narrowing an axis of a fixed size
//= narrow: axis rgb always has 3 positions; rename() it first
auto f(const Tensor<float, seq, rgb>& x) { return x.narrow(rgb, 0, 2); }

//: Naming an axis of a fixed size as one of any size
//= extent: [seq, rgb=3] has no axis rgb of any size; rename() it first
auto f(const Tensor<float, seq, rgb>& x) { return x.extent(Axis<"rgb">()); }

//: Naming an axis of one fixed size as one of another
//= index: [seq, rgb=3] has no axis rgb=4; rename() it first
auto f(const Tensor<float, seq, rgb>& x) { return x(Axis<"rgb", 4>()(1)); }

//: A view that wants another fixed size
//= View: wants [channel=128] but got [channel=64]
void half(View<const float, Axis<"channel", 128>{}>);
void f(const Tensor<float, Axis<"channel", 64>{}>& x) { half(x); }

//: A view of any size where one of a fixed size is wanted
//= View: wants [rgb=3] but got [rgb]
void paint(View<const float, rgb>);
void f(const Tensor<float, Axis<"rgb">{}>& x) { paint(x); }

//: Two sizes of one axis in one tensor
//= View: axis rgb stands twice in [rgb=3, rgb]; rename one of them
auto f(const Tensor<float, rgb, Axis<"rgb">{}>& x) { return x.size(); }

//: A weight indexed along an axis that it lacks
//= index: [ff, embed] has no axis expert
auto f(const Weight<ff, embed>& w) { return w(expert(3)); }

//: A weight narrowed along an axis that it lacks
//= narrow: [ff, embed] has no axis seq
auto f(const Weight<ff, embed>& w) { return w.narrow(seq, 0, 1); }

//: A weight with an axis twice
//= Stored: axis embed stands twice in [embed, ff, embed]; rename one of them
auto f(const Weight<embed, ff, embed>& w) { return w.size(); }

//: A float tensor with other axes stored
//= Stored: wants [ff, embed] but got [seq, embed]
void keep(const Stored<ff, embed>&);
void f(const Stream& x) { keep(x); }
