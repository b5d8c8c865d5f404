// The seam through which every op call can be watched. With no observer it costs one thread-local load and a branch.
#pragma once
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "axial/tensor/error.h"
#include "axial/tensor/ref.h"

namespace axial {

// What a call of an op costs, as the op states it (ops/work.h).
struct Work {
    static constexpr std::uint64_t all = static_cast<std::uint64_t>(-1);
    // A multiplication or addition by itself counts as one too, a comparison or an exponential as none.
    std::uint64_t multiplyAdds = 0;
    std::uint64_t ofCodes = 0;         // those among them that are of integer codes (ops/activations.h)
    std::uint64_t bytesRead = all;     // of the operands; all: each of them whole
    std::uint64_t bytesWritten = all;  // of the results

    static constexpr Work none() { return {0, 0, 0, 0}; }
    // Both of figures, not of `all`.
    constexpr Work& operator+=(const Work& o) {
        multiplyAdds += o.multiplyAdds;
        ofCodes += o.ofCodes;
        bytesRead += o.bytesRead;
        bytesWritten += o.bytesWritten;
        return *this;
    }
};

// One call of an op.
struct OpEvent {
    std::string_view op;  // lives forever
    std::vector<TensorRef> in;
    TensorRef out;                    // the result; of several the first
    std::vector<TensorRef> moreOut;   // the others
    bool inPlace = false;             // `out` is a part of what was there before: a store into a cache
    Work work;                        // once it ran; nothing in it is Work::all
    std::chrono::nanoseconds time{};  // once it ran
    std::string scope;                // "layer 3/attention"
};

// Told of every op that its thread runs while a Watch installs it. Workers of a thread team never report.
class Observer {
  public:
    // everyValue: ops that stand for several (dotAll, swigluDot, addDot) run as those, one after the other, so that
    // each value between them can be read. whatRuns: everything runs as if nobody watched, at its usual speed, and such
    // an op is one event.
    enum class Interest { everyValue, whatRuns };

    explicit Observer(Interest interest = Interest::everyValue) : interest_(interest) {}
    virtual ~Observer() = default;
    Interest interest() const { return interest_; }

    // The op will run. Its operands are still what they were: who wants to keep them does it here. May throw.
    virtual void before(const OpEvent&) {}
    // The op ran: values may be read through the refs. Must not throw: the op may have taken over its operands.
    virtual void onOp(const OpEvent&) = 0;
    // A scope was entered or left, and `scope` is where ops run now. Must not throw.
    virtual void onScope(std::string_view /*scope*/) {}
    // named() was called in `scope`: what the value is called there. It must not throw either.
    virtual void onName(std::string_view name, const TensorRef& value, const std::string& scope) {
        (void)name, (void)value, (void)scope;
    }

  private:
    Interest interest_;
};

namespace detail {
inline constinit thread_local Observer* observer = nullptr;
struct PendingOp;
PendingOp* beginOp(std::string_view op, std::span<const TensorRef* const> in);
void dropOp(PendingOp*) noexcept;
ValueId addResult(PendingOp*, TensorRef out);
ValueId endOp(PendingOp*, TensorRef out, bool inPlace, Work);
void nameValue(std::string_view name, const TensorRef&);
void pushScope(std::string_view name, long index);
void popScope() noexcept;
}  // namespace detail

// Whether ops that stand for several have to run as those.
inline bool everyValueIsWatched() {
    return detail::observer && detail::observer->interest() == Observer::Interest::everyValue;
}

// An op opens one of these first and closes it with its result and what it cost:
//   OpCall call("dot", {&x, &w}); ... call.done(out.ref, [&] { return work::dot(out.ref.size(), k); });
// The cost is asked for only when somebody watches. Throws ValueError if an operand holds nothing.
class OpCall {
  public:
    OpCall(std::string_view op, std::initializer_list<const TensorRef*> in)
        : OpCall(op, std::span<const TensorRef* const>(in.begin(), in.size())) {}
    OpCall(std::string_view op, std::span<const TensorRef* const> in) {
        for (const TensorRef* operand : in)
            if (!operand->data) [[unlikely]]
                failEmpty(op);
        if (detail::observer) [[unlikely]]
            pending_ = detail::beginOp(op, in);
    }
    ~OpCall() {
        if (pending_) [[unlikely]]
            detail::dropOp(pending_);  // the op threw
    }
    OpCall(const OpCall&) = delete;
    OpCall& operator=(const OpCall&) = delete;
    bool watched() const { return pending_; }
    // Of an op with several results: one that is not the first. Before done().
    void also(TensorRef& out) {
        if (pending_) [[unlikely]]
            out.id = detail::addResult(pending_, out);
    }
    template <class F>
    void done(TensorRef& out, F&& work) {
        if (pending_) [[unlikely]]
            out.id = detail::endOp(std::exchange(pending_, nullptr), out, false, work());
    }
    // For ops that only move numbers.
    void done(TensorRef& out) {
        done(out, [] { return Work(); });
    }
    // The op wrote into what was there before, or a part of it.
    template <class F>
    void wrote(const TensorRef& into, F&& work) {
        if (pending_) [[unlikely]]
            detail::endOp(std::exchange(pending_, nullptr), into, true, work());
    }
    void wrote(const TensorRef& into) {
        wrote(into, [] { return Work(); });
    }

  private:
    detail::PendingOp* pending_ = nullptr;
};

// Names a region: Scope scope("layer", 3). Free when nobody watches.
class Scope {
  public:
    explicit Scope(std::string_view name, long index = -1) : on_(detail::observer) {
        if (on_) [[unlikely]]
            detail::pushScope(name, index);
    }
    ~Scope() {
        if (on_) [[unlikely]]
            detail::popScope();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    bool on_;
};

// Tells who watches what a value is called, and hands it on: const auto x = named("embedding", gather(table, vocab,
// ids)). Free when nobody watches.
template <class T>
T&& named(std::string_view name, T&& value) {
    if (detail::observer) [[unlikely]]
        detail::nameValue(name, value.ref());
    return std::forward<T>(value);
}

// Installs an observer for this thread as long as it lives.
class Watch {
  public:
    explicit Watch(Observer& o) : before_(detail::observer) { detail::observer = &o; }
    ~Watch() { detail::observer = before_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    Observer* before_;
};

}  // namespace axial
