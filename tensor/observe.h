// The seam through which every op call can be watched. With no observer it costs one thread-local load and a branch.
#pragma once
#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "axial/tensor/error.h"
#include "axial/tensor/ref.h"

namespace axial {

// One call of an op.
struct OpEvent {
    std::string_view op;
    std::vector<TensorRef> in;
    TensorRef out;
    std::chrono::nanoseconds time{};
    std::string scope;  // "layer 3/attention"
};

// Told of every op that its thread runs while a Watch installs it. Workers of a thread team never report. It must not
// throw from onOp: by then the op may have taken over its operands.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void before(const OpEvent&) {}  // operands are still what they were: who wants to keep them does it here
    virtual void onOp(const OpEvent&) = 0;  // the op ran: values may be read through the refs
    // named() was called in `scope`: what the value is called there. It must not throw either.
    virtual void onName(std::string_view name, const TensorRef& value, const std::string& scope) {
        (void)name, (void)value, (void)scope;
    }
};

namespace detail {
inline constinit thread_local Observer* observer = nullptr;
struct PendingOp;
PendingOp* beginOp(std::string_view op, std::initializer_list<const TensorRef*> in);
void dropOp(PendingOp*) noexcept;
ValueId endOp(PendingOp*, TensorRef out);
void nameValue(std::string_view name, const TensorRef&);
void pushScope(std::string_view name, long index);
void popScope() noexcept;
}  // namespace detail

// An op opens one of these first and closes it with its result: OpCall call("dot", {&x, &w}); ... call.done(out.ref);
// Throws ValueError if an operand holds nothing.
class OpCall {
  public:
    OpCall(std::string_view op, std::initializer_list<const TensorRef*> in) {
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
    void done(TensorRef& out) {
        if (pending_) [[unlikely]]
            out.id = detail::endOp(std::exchange(pending_, nullptr), out);
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
