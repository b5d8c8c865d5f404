#include "axial/tensor/observe.h"

#include <atomic>
#include <memory>

namespace axial::detail {

struct PendingOp {
    OpEvent event;
    std::chrono::steady_clock::time_point start;
};

namespace {
thread_local std::vector<std::string> scopes;
std::atomic<ValueId> lastId{0};  // of the whole process: values may wander between threads

std::string scopePath() {
    std::string path;
    for (const std::string& scope : scopes) path.append(path.empty() ? "" : "/").append(scope);
    return path;
}
}  // namespace

PendingOp* beginOp(std::string_view op, std::initializer_list<const TensorRef*> in) {
    auto pending = std::make_unique<PendingOp>();
    pending->event.op = op;
    for (const TensorRef* operand : in) pending->event.in.push_back(*operand);
    pending->event.scope = scopePath();
    observer->before(pending->event);
    pending->start = std::chrono::steady_clock::now();
    return pending.release();
}
void dropOp(PendingOp* pending) noexcept { delete pending; }
ValueId endOp(PendingOp* raw, TensorRef out) {
    const std::unique_ptr<PendingOp> pending(raw);
    pending->event.time = std::chrono::steady_clock::now() - pending->start;
    out.id = lastId.fetch_add(1, std::memory_order_relaxed) + 1;
    pending->event.out = out;
    if (observer) observer->onOp(pending->event);
    return out.id;
}
void nameValue(std::string_view name, const TensorRef& value) { observer->onName(name, value, scopePath()); }
void pushScope(std::string_view name, long index) {
    scopes.push_back(index < 0 ? std::string(name) : std::string(name) + " " + std::to_string(index));
}
void popScope() noexcept { scopes.pop_back(); }

}  // namespace axial::detail
