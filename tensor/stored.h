// Stored<axes...>: read-only numbers in whatever format they are stored in. Weight<axes...>: one borrowed from a file.
// The axes are types; the number format is known at run time, so there is no template per format.
#pragma once
#include <memory>
#include <string>

#include "axial/tensor/view.h"

namespace axial {

// Borrowed numbers in any Format. Blocks run along the last axis, so a Stored can be contracted only over its trailing
// axes (dot checks it at compile time), and can be narrowed or indexed only at whole blocks.
template <auto... A>
class Stored {
  public:
    using Set = Axes<A...>;
    static_assert(detail::allDifferent(Set{}), "Stored<axes...>: an axis may stand there once; rename one of two");

    Stored() = default;
    explicit Stored(const TensorRef& r) : ref_(r) { ref_.axis = names<Set>; }
    // A dense float tensor is stored as F32.
    template <auto... B>
    Stored(const View<const float, B...>& v) : Stored(arranged(v.ref(), mapTo<Axes<B...>, Set>)) {
        static_assert(sizeof(*All<WantsAxes<"Stored", Axes<B...>, Set>>::error()));
    }

    Format format() const { return ref_.format; }
    const TensorRef& ref() const { return ref_; }
    std::size_t size() const { return ref_.size(); }
    // Whether there is anything: a record's optional weight that the file lacks is empty.
    bool empty() const { return ref_.data == nullptr; }
    template <class X>
    std::size_t extent(X) const {
        static_assert(sizeof(*All<HasAxis<"extent", Set, X>>::error()));
        return ref_.extent[indexOf<X>(Set{})];
    }
    // `count` positions of an axis from `first` on. ShapeError past the end, or inside a block.
    template <class X>
    Stored narrow(X, std::size_t first, std::size_t count) const {
        static_assert(sizeof(*All<HasAxis<"narrow", Set, X>>::error()));
        return Stored(narrowed(ref_, indexOf<X>(Set{}), first, count));
    }

  protected:
    TensorRef ref_;
};

// A parameter of a model: borrowed from a mapped file that it keeps mapped, and labelled with the file's name for it.
// Copying one copies no numbers: a tied output head is a copy of the embedding's Weight.
template <auto... A>
class Weight : public Stored<A...> {
  public:
    using typename Stored<A...>::Set;

    Weight() = default;
    // `data` holds the extents' values row-major in `format`, and lives as long as `mapping`.
    Weight(const void* data, Format format, const Extents& extent, std::shared_ptr<const void> mapping = {},
           std::string name = {})
        : file_(std::make_shared<File>(File{std::move(mapping), std::move(name)})) {
        this->ref_ = dense(format, names<Set>, Set::size, extent);
        this->ref_.data = const_cast<void*>(data);
        this->ref_.label = file_->name;
    }
    // w(expert(3)) is the weight of what remains.
    template <class X>
    auto operator()(At<X> i) const {
        static_assert(sizeof(*All<HasAxis<"index", Set, X>>::error()));
        return weightOf(picked(this->ref_, indexOf<X>(Set{}), i.value, names<without<Set, Axes<X{}>>>),
                        without<Set, Axes<X{}>>{});
    }
    // The file's name for it, such as "blk.0.attn_q.weight".
    std::string_view name() const { return this->ref_.label; }

  private:
    template <auto... B>
    friend class Weight;
    struct File {
        std::shared_ptr<const void> mapping;
        std::string name;
    };
    Weight(const TensorRef& r, std::shared_ptr<const File> file) : Stored<A...>(r), file_(std::move(file)) {}
    template <auto... B>
    Weight<B...> weightOf(const TensorRef& r, Axes<B...>) const {
        return Weight<B...>(r, std::make_shared<typename Weight<B...>::File>(file_->mapping, file_->name));
    }

    std::shared_ptr<const File> file_;
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
