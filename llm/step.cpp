#include "axial/llm/step.h"

namespace axial::llm {

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

void Step::finish() {
    for (const Stretch& stretch : stretches_) stretch.cache.advance(stretch.rows);
}

}  // namespace axial::llm
