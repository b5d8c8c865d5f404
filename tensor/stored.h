// Stored<axes...>: read-only numbers in whatever format they are stored in. Weight<axes...>: one borrowed from a file.
// The axes are types; the number format is known at run time, so there is no template per format.
#pragma once
#include <memory>
#include <string>

#include "axial/tensor/origin.h"
#include "axial/tensor/view.h"

namespace axial {

// Borrowed numbers in any Format, read as floats. Blocks run along the trailing axes, so a Stored can be contracted
// only over its trailing axes (dot checks it at compile time), cannot be reordered, and can be narrowed or indexed only
// at whole blocks (checked at run time).
template <auto... A>
class Stored {
  public:
    using Set = Axes<A...>;
    static_assert((isAxis<std::remove_const_t<decltype(A)>> && ...),
                  "Stored<axes...>: each axis is an Axis object, such as embed");
    static_assert(sizeof(*All<NoAxisTwice<"Stored", Set>, RankFits<"Stored", Set>>::error()));

    Stored() = default;
    explicit Stored(const TensorRef& r) : ref_(r) {
        ref_.axis = names<Set>;
        if constexpr (detail::anyFixed<A...>)
            if (r.data) detail::checked<Set>("stored tensor", ref_);
    }
    // A float tensor is stored as F32.
    template <auto... B>
    Stored(const View<const float, B...>& v) : Stored(arranged(v.ref(), mapTo<Axes<B...>, Set>)) {
        static_assert(sizeof(*All<WantsAxes<"Stored", Axes<B...>, Set>>::error()));
    }

    Format format() const { return ref_.format; }
    const TensorRef& ref() const { return ref_; }
    std::size_t size() const { return ref_.size(); }
    // Whether there is nothing: a record's optional weight that the file lacks is empty.
    bool empty() const { return ref_.data == nullptr; }
    template <class X>
    std::size_t extent(X) const {
        using Checks = typename detail::Extent<Set, X>::Checks;
        if constexpr (!Checks::ok)
            return sizeof(*Checks::error());
        else
            return ref_.extent[indexOf<X>(Set{})];
    }

    // As the members of View, with the same errors; ShapeError also inside a block.
    template <class X>
    Stored narrow(X, std::size_t first, std::size_t count) const {
        using Op = detail::Narrow<Set, X>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Stored();
        else
            return Stored(Op::of(ref_, first, count));
    }
    template <class... X>
    auto operator()(At<X>... i) const {
        using Op = detail::Index<Set, X...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Stored();
        else
            return storedOf(Op::of(ref_, i...), typename Op::Out());
    }
    template <class Old, class New>
    auto rename(Old, New) const {
        using Op = detail::Rename<Set, Old, New>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Stored();
        else
            return storedOf(Op::of(ref_), typename Op::Out());
    }
    template <class X, class... Part>
    auto split(X, Part... part) const {
        using Op = detail::Split<Set, X, Part...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Stored();
        else
            return storedOf(Op::of(ref_, part...), typename Op::Out());
    }
    template <class Into, class X, class... More>
    auto merge(Into, X, More...) const {
        using Op = detail::Merge<Set, Into, X, More...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Stored();
        else
            return storedOf(Op::of(ref_), typename Op::Out());
    }

  protected:
    TensorRef ref_;

  private:
    template <auto... B>
    static Stored<B...> storedOf(const TensorRef& r, Axes<B...>) {
        return Stored<B...>(r);
    }
};

namespace detail {
// What a Weight keeps alive, the text its label points to, and room for a second form of it.
struct WeightFile {
    std::shared_ptr<const void> mapping;
    std::string name;
    std::shared_ptr<FormSlot> slot;
};
std::shared_ptr<FormSlot> formSlot(const TensorRef& weight, Origin);
}  // namespace detail

// A parameter of a model: borrowed from a mapped file that it keeps mapped, and labelled with the file's name for it.
// Copying one copies no numbers: a tied output head is a copy of the embedding's Weight. What is not a Weight any more
// (narrowed, renamed, split, merged: a Stored) borrows from it.
template <auto... A>
class Weight : public Stored<A...> {
  public:
    using typename Stored<A...>::Set;

    Weight() = default;
    // `data` holds the extents' values row-major in `format`, and lives as long as `mapping`; of what is not writable
    // ops may keep a second form, and give the memory of what is on disk back. ShapeError if an axis has a fixed size
    // and another extent, or if the number of values overflows.
    Weight(const void* data, Format format, const Extents& extent, std::shared_ptr<const void> mapping = {},
           std::string name = {}, Origin origin = Origin::writable)
        : Weight(refOf(data, format, extent), std::move(mapping), std::move(name), origin) {}

    // w(expert(3)) is the weight of what remains, and keeps the file mapped as w does.
    template <class... X>
    auto operator()(At<X>... i) const {
        using Op = detail::Index<Set, X...>;
        if constexpr (!Op::Checks::ok)
            return (void)sizeof(*Op::Checks::error()), Weight();
        else
            return weightOf(Op::of(this->ref_, i...), typename Op::Out());
    }
    // The file's name for it, such as "blk.0.attn_q.weight".
    std::string_view name() const { return this->ref_.label; }

  private:
    template <auto... B>
    friend class Weight;
    Weight(const TensorRef& r, std::shared_ptr<const detail::WeightFile> file)
        : Stored<A...>(r), file_(std::move(file)) {
        if (!file_) return;
        this->ref_.label = file_->name;
        this->ref_.slot = file_->slot.get();
    }
    Weight(const TensorRef& r, std::shared_ptr<const void> mapping, std::string name, Origin origin)
        : Weight(r, std::make_shared<const detail::WeightFile>(
                        detail::WeightFile{std::move(mapping), std::move(name), detail::formSlot(r, origin)})) {}
    static TensorRef refOf(const void* data, Format format, const Extents& extent) {
        TensorRef r = dense(format, names<Set>, Set::size, extent);
        r.data = const_cast<void*>(data);
        return r;
    }
    template <auto... B>
    Weight<B...> weightOf(const TensorRef& r, Axes<B...>) const {
        return Weight<B...>(r, file_);
    }

    std::shared_ptr<const detail::WeightFile> file_;
};

template <auto... A>
View<const float, A...> viewIn(const Stored<A...>&);
template <class X>
inline constexpr bool isStored = false;
template <auto... A>
inline constexpr bool isStored<Stored<A...>> = true;
template <auto... A>
inline constexpr bool isStored<Weight<A...>> = true;

}  // namespace axial
