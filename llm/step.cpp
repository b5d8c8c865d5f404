#include "axial/llm/step.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "axial/tensor/observe.h"
#include "axial/tensor/parallel.h"

namespace axial::llm {

namespace {
// What the ops of a thread cost together.
class WorkSum : public Observer {
  public:
    WorkSum() : Observer(Interest::whatRuns) {}
    void onOp(const OpEvent& event) override { work += event.work; }
    Work work = Work::none();
};
}  // namespace

Step::Step(std::vector<Stretch> stretches, RopeTable angles)
    : rope(std::move(angles)), stretches_(std::move(stretches)) {
    for (const Stretch& stretch : stretches_) {
        rows_ += stretch.rows;
        asked_ += stretch.asked;
    }
}

Stream Step::askedRows(const Stream& x) const {
    std::vector<std::size_t> rows;
    std::size_t behind = 0;
    for (const Stretch& stretch : stretches_) {
        behind += stretch.rows;
        for (std::size_t i = behind - stretch.asked; i < behind; ++i) rows.push_back(i);
    }
    return select(x, seq, rows);
}

std::size_t Step::positionOf(std::size_t row, std::size_t streamRows) const {
    for (const Stretch& stretch : stretches_) {
        const std::size_t count = streamRows == rows_ ? stretch.rows : stretch.asked;
        if (row < count) return stretch.cache.length() + stretch.rows - count + row;
        row -= count;
    }
    return 0;
}

void Step::forEachStretch(bool all, const std::function<void(const Stretch&, std::size_t, std::size_t)>& f,
                          std::initializer_list<const TensorRef*> operands, const TensorRef& result) const {
    struct Place {
        std::size_t from, to;
    };
    std::vector<Place> places;
    std::size_t from = 0, to = 0, total = 0, largest = 0;
    for (const Stretch& stretch : stretches_) {
        places.push_back({from, to});
        const std::size_t count = all ? stretch.rows : stretch.asked,
                          work = count * (stretch.cache.length() + stretch.rows);
        total += work;
        largest = std::max(largest, work);
        from += stretch.rows;
        to += count;
    }
    ThreadTeam& team = currentTeam();
    const auto one = [&](std::size_t i) { f(stretches_[i], places[i].from, places[i].to); };
    if (everyValueIsWatched() || stretches_.size() < team.size() || largest * team.size() > total + total / 2) {
        for (std::size_t i = 0; i < stretches_.size(); ++i) one(i);
        return;
    }
    OpCall call("attendEach", operands);
    std::mutex mutex;
    std::exception_ptr error;
    Work sum = Work::none();
    auto task = [&](std::size_t i) {
        const UseTeam use(team);  // of a worker too; inside a task it calls on nobody
        try {
            if (!call.watched()) return one(i);
            WorkSum mine;
            const Watch watch(mine);  // on this thread, instead of who watches the step
            one(i);
            const std::lock_guard lock(mutex);
            sum += mine.work;
        } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
        }
    };
    team.run(stretches_.size(), task);
    if (error) std::rethrow_exception(error);
    call.wrote(result, [&] { return sum; });
}

void Step::finish() {
    for (const Stretch& stretch : stretches_) stretch.cache.advance(stretch.rows);
}

}  // namespace axial::llm
