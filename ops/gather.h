// gather(table, axis, ids): the rows of a table by their numbers: the embedding of tokens.
#pragma once
#include "axial/ops/checks.h"

namespace axial {

namespace erased {
// The table's axis `axis` gives way to the axes of `ids`; `names` are the result's.
Owned gather(const TensorRef& table, std::size_t axis, const TensorRef& ids, const std::string_view* names);
}  // namespace erased

namespace detail {
// The set with the axes of another set in the place of X.
template <class Set, class X, class Ids>
struct WithIds;
template <class Set, class X, auto... I>
struct WithIds<Set, X, Axes<I...>> {
    using type = replaced<Set, X, std::remove_const_t<decltype(I)>...>;
};
template <class Ids>
struct Int32Ids {
    static constexpr bool ok = std::is_same_v<ElementOf<Ids>, std::int32_t> && !isStored<Ids>;
    static consteval auto text() {
        Text t;
        return t << "gather: the ids " << SetOf<Ids>{} << " must be std::int32_t";
    }
};
template <class Table, class X>
struct WholeRows {
    static constexpr bool ok =
        !isStored<Table> || SetOf<Table>::size == 0 || indexOf<X>(SetOf<Table>{}) + 1 != SetOf<Table>::size;
    static consteval auto text() {
        Text t;
        return t << "gather: axis " << X::name << " is the last of Stored " << SetOf<Table>{}
                 << ", along which its blocks run";
    }
};
template <class Rest, class Ids>
struct NewAxes {
    static constexpr bool ok = shared<Rest, Ids>::size == 0;
    static consteval auto text() {
        Text t;
        return t << "gather: the table's other axes " << Rest{} << " and the ids " << Ids{} << " share "
                 << shared<Rest, Ids>{} << "; rename() one of them";
    }
};
}  // namespace detail

// gather(embedding, vocab, ids): result(.., ids' axes, ..) = table(.., vocab(ids(..)), ..) as floats: a table
// [vocab, embed] and ids [seq] give [seq, embed]. The table is float, or a Stored or Weight in any format (then the
// axis is not its last). ids: std::int32_t. Throws ValueError for an id outside the axis, ShapeError if the rows of a
// block format are not whole blocks.
template <TensorLike Table, class X, TensorLike Ids>
auto gather(const Table& table, X, const Ids& ids) {
    using Set = SetOf<Table>;
    using Rest = without<Set, Axes<X{}>>;
    using Checks = All<HasAxis<"gather", Set, X>, FloatValues<"gather", Table>, detail::Int32Ids<Ids>,
                       detail::WholeRows<Table, X>, detail::NewAxes<Rest, SetOf<Ids>>>;
    if constexpr (!Checks::ok)
        return (void)sizeof(*Checks::error()), View<float>();
    else {
        using OutSet = typename detail::WithIds<Set, X, SetOf<Ids>>::type;
        return TensorOf<float, OutSet>(erased::gather(table.ref(), indexOf<X>(Set{}), ids.ref(), names<OutSet>));
    }
}

}  // namespace axial
