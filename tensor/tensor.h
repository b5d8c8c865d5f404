// Tensor<T, axes...>: a View that owns its numbers. It moves, it does not copy (say copy() to copy).
#pragma once
#include <functional>
#include <initializer_list>
#include <span>
#include <utility>

#include "axial/tensor/owned.h"
#include "axial/tensor/view.h"

namespace axial {

template <class T, auto... A>
class Tensor;
template <class T, class Set, bool Possible = possibleAxes<Set>>
struct tensorOf {
    using type = Impossible;
};
template <class T, auto... A>
struct tensorOf<T, Axes<A...>, true> {
    using type = Tensor<T, A...>;
};
template <class T, class Set>
using TensorOf = typename tensorOf<T, Set>::type;

template <class X>
inline constexpr bool isTensor = false;
template <class T, auto... A>
inline constexpr bool isTensor<Tensor<T, A...>> = true;

template <class T, auto... A>
class [[nodiscard]] Tensor : public View<const T, A...> {
  public:
    using Base = View<const T, A...>;  // reading a Tensor needs no ceremony; writing goes through edit()
    using typename Base::Set;

    Tensor() = default;
    explicit Tensor(Owned&& o) : Base(o.ref), buffer_(std::move(o.buffer)) {}
    Tensor(Tensor&& o) noexcept : Base(o), buffer_(std::move(o.buffer_)) { o.ref_ = emptied(o.ref_); }
    Tensor& operator=(Tensor&& o) noexcept {
        this->ref_ = std::exchange(o.ref_, emptied(o.ref_));
        buffer_ = std::move(o.buffer_);
        return *this;
    }
    // Another axis order is another memory layout, so it is never taken silently: copy(x.as(...)) says it.
    template <auto... B>
    Tensor(Tensor<T, B...>&&) {
        static_assert(sizeof(*All<WantsAxes<"Tensor&&", Axes<B...>, Set, false>>::error()));
    }

    // The same numbers, to write to.
    View<T, A...> edit() { return View<T, A...>(this->ref_); }
    // All numbers in the axes' order.
    std::span<T> values() & { return {static_cast<T*>(this->ref_.data), count()}; }
    std::span<const T> values() const& { return {this->data(), count()}; }
    // Whether it owns nothing: never filled, or moved from. Ops refuse it (ValueError).
    bool empty() const { return !buffer_; }
    // What an op gets that may reuse the buffer.
    Loan lend() && { return {&this->ref_, &buffer_}; }

    template <class... X>
    decltype(auto) operator()(At<X>... i) & {
        return edit()(i...);
    }
    template <class... X>
    decltype(auto) operator()(At<X>... i) const& {
        return Base::operator()(i...);
    }
    template <class X>
    Base narrow(X x, std::size_t first, std::size_t count) const& {
        return Base::narrow(x, first, count);
    }
    template <class... X>
    auto as(X... x) const& {
        return Base::as(x...);
    }

    // A view of a temporary would dangle before it could be read.
    std::span<const T> values() const&& = delete;
    template <class... X>
        requires(sizeof...(X) < sizeof...(A))
    void operator()(At<X>...) const&& = delete;
    template <class... X>
        requires(sizeof...(X) >= sizeof...(A))
    T operator()(At<X>... i) const&& {  // an element is no view
        return Base::operator()(i...);
    }
    template <class X>
    void narrow(X, std::size_t, std::size_t) const&& = delete;
    template <class... X>
    void as(X...) const&& = delete;

    // On an rvalue, renaming and reshaping keep the ownership and move no numbers.
    template <class... X>
    auto rename(X... x) const& {
        return Base::rename(x...);
    }
    template <class... X>
    auto split(X... x) const& {
        return Base::split(x...);
    }
    template <class... X>
    auto merge(X... x) const& {
        return Base::merge(x...);
    }
    template <class... X>
    auto rename(X... x) && {
        return keep(Base::rename(x...));
    }
    template <class... X>
    auto split(X... x) && {
        return keep(Base::split(x...));
    }
    template <class... X>
    auto merge(X... x) && {
        return keep(Base::merge(x...));
    }

    // x.replace(f, args...) is x = f(std::move(x), args...). If f takes x by && and hands it on in its last call, as
    // ops and blocks do, then either x becomes f's result or f throws and x is untouched.
    template <class F, class... Args>
    Tensor& replace(F&& f, Args&&... args) & {
        constexpr bool callable = std::is_invocable_v<F, Tensor&&, Args...>;
        static_assert(callable, "replace: f cannot be called as f(Tensor&&, args...)");
        if constexpr (callable) {
            using Result = std::remove_cvref_t<std::invoke_result_t<F, Tensor&&, Args...>>;
            static_assert(isTensor<Result>, "replace: f must return a Tensor");
            if constexpr (isTensor<Result>) {
                using Checks = All<WantsAxes<"replace", SetOf<Result>, Set, std::is_same_v<SetOf<Result>, Set>>>;
                if constexpr (!Checks::ok)
                    (void)sizeof(*Checks::error());
                else
                    *this = std::invoke(std::forward<F>(f), std::move(*this), std::forward<Args>(args)...);
            }
        }
        return *this;
    }

  private:
    template <class U, auto... B>
    Tensor<T, B...> keep(const View<U, B...>& v) {
        Tensor<T, B...> t(Owned{v.ref(), std::move(buffer_)});
        this->ref_ = emptied(this->ref_);
        return t;
    }
    std::size_t count() const { return buffer_ ? this->size() : 0; }
    Buffer buffer_;
};

// How an op takes an operand it could reuse: an rvalue Tensor lends its buffer, anything else is only read.
template <class X>
Loan lend(X&& x) {
    if constexpr (isTensor<X>)
        return std::move(x).lend();
    else
        return {const_cast<TensorRef*>(&x.ref()), nullptr};
}

// uninitialized<float>(seq(4), embed(8)) is a Tensor<float, seq, embed> whose numbers are not set yet.
template <class T, class... X>
Tensor<T, X{}...> uninitialized(At<X>... extent) {
    (requireFixed("tensor", X::name, X::fixed, extent.value), ...);
    return Tensor<T, X{}...>(allocate(formatOf<T>, names<Axes<X{}...>>, sizeof...(X), Extents{extent.value...}));
}
// The same, all zero.
template <class T, class... X>
Tensor<T, X{}...> zeros(At<X>... extent) {
    auto t = uninitialized<T>(extent...);
    std::fill_n(t.edit().data(), t.size(), T{});
    return t;
}
// tensor<float>({1, 2, 3, 4}, seq(2), embed(2)): values in the axes' order. ShapeError if their number is another.
template <class T, class... X>
Tensor<T, X{}...> tensor(std::span<const T> values, At<X>... extent) {
    auto t = uninitialized<T>(extent...);
    if (values.size() != t.size())
        throw ShapeError("tensor: " + describe(t.ref()) + " holds " + std::to_string(t.size()) + " values, but " +
                         std::to_string(values.size()) + " were given");
    std::copy(values.begin(), values.end(), t.edit().data());
    return t;
}
template <class T, class... X>
Tensor<T, X{}...> tensor(std::initializer_list<T> values, At<X>... extent) {
    return tensor(std::span<const T>(values.begin(), values.size()), extent...);
}

}  // namespace axial
