#include "axial/tensor/observe.h"

#include <atomic>
#include <memory>

namespace axial::detail {

struct PendingOp {
    OpEvent event;
    std::chrono::steady_clock::time_point start;
};

namespace {

// What a thread is in. Events are used again, so that a call costs no allocation once the first ones have been made.
struct Place {
    std::string scope;
    std::vector<std::size_t> lengths;  // of the scope's text before each part
    std::vector<std::unique_ptr<PendingOp>> pending;
    std::size_t depth = 0;  // of `pending`, those that run
};
thread_local Place place;
std::atomic<ValueId> lastId{0};  // of the whole process: values may wander between threads

ValueId nextId() { return lastId.fetch_add(1, std::memory_order_relaxed) + 1; }
std::uint64_t bytesOf(const TensorRef& v) { return axial::bytesOf(v.format, v.size()); }

void complete(OpEvent& event) {
    Work& work = event.work;
    if (work.bytesRead == Work::all) {
        work.bytesRead = 0;
        for (const TensorRef& in : event.in) work.bytesRead += bytesOf(in);
    }
    if (work.bytesWritten == Work::all) {
        work.bytesWritten = bytesOf(event.out);
        for (const TensorRef& out : event.moreOut) work.bytesWritten += bytesOf(out);
    }
}

}  // namespace

PendingOp* beginOp(std::string_view op, std::span<const TensorRef* const> in) {
    Place& here = place;
    if (here.depth == here.pending.size()) here.pending.push_back(std::make_unique<PendingOp>());
    PendingOp& pending = *here.pending[here.depth];
    OpEvent& event = pending.event;
    event.op = op;
    event.in.clear();
    for (const TensorRef* operand : in) event.in.push_back(*operand);
    event.out = {};
    event.moreOut.clear();
    event.moreOut.reserve(in.size() + 1);  // so that addResult cannot fail
    event.work = {};
    event.time = {};
    event.scope = here.scope;
    observer->before(event);
    ++here.depth;
    pending.start = std::chrono::steady_clock::now();
    return &pending;
}
void dropOp(PendingOp*) noexcept { --place.depth; }
ValueId addResult(PendingOp* pending, TensorRef out) {
    out.id = nextId();
    pending->event.moreOut.push_back(out);
    return out.id;
}
ValueId endOp(PendingOp* pending, TensorRef out, bool inPlace, Work work) {
    OpEvent& event = pending->event;
    event.time = std::chrono::steady_clock::now() - pending->start;
    out.id = nextId();
    event.out = out;
    event.inPlace = inPlace;
    event.work = work;
    complete(event);
    if (observer) observer->onOp(event);
    --place.depth;
    return out.id;
}
void nameValue(std::string_view name, const TensorRef& value) { observer->onName(name, value, place.scope); }
void pushScope(std::string_view name, long index) {
    Place& here = place;
    here.scope.reserve(here.scope.size() + name.size() + 24);
    here.lengths.push_back(here.scope.size());
    if (!here.scope.empty()) here.scope += '/';
    here.scope += name;
    if (index >= 0) here.scope.append(" ").append(std::to_string(index));
    if (observer) observer->onScope(here.scope);
}
void popScope() noexcept {
    Place& here = place;
    here.scope.resize(here.lengths.back());
    here.lengths.pop_back();
    if (observer) observer->onScope(here.scope);
}

}  // namespace axial::detail
