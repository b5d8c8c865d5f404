#include "axial/ops/mixture.h"

#include <algorithm>
#include <string>

#include "axial/ops/elementwise.h"
#include "axial/ops/linear.h"
#include "axial/ops/mixture_kernels.h"
#include "axial/ops/rows.h"
#include "axial/ops/work.h"
#include "axial/tensor/error.h"
#include "axial/tensor/observe.h"

namespace axial::erased {
namespace {

// An operand in the order of `map`, without gaps; `copy` keeps it if it does not lie so by itself.
const TensorRef gapless(const TensorRef& operand, const AxisMap& map, Owned& copy) {
    const TensorRef in = arranged(operand, map);
    if (in.isDense()) return in;
    copy = copyDense(in);
    return copy.ref;
}

// Which rows go to which expert: a counting sort by expert. A pair is a row and one of its slots.
class Assignment {
  public:
    Assignment(std::span<const std::int32_t> expertOf, std::size_t slots, std::size_t experts)
        : start_(experts + 1), rowOf_(expertOf.size()), placeOf_(expertOf.size(), -1) {
        for (const std::int32_t e : expertOf)
            if (e >= 0) ++start_[static_cast<std::size_t>(e) + 1];
        for (std::size_t e = 0; e < experts; ++e) {
            if (start_[e + 1] != 0) wanted_.push_back(static_cast<std::int32_t>(e));
            start_[e + 1] += start_[e];
        }
        std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
        for (std::size_t pair = 0; pair < expertOf.size(); ++pair) {
            if (expertOf[pair] < 0) continue;
            const std::size_t place = next[static_cast<std::size_t>(expertOf[pair])]++;
            rowOf_[place] = static_cast<std::int32_t>(pair / slots);
            placeOf_[pair] = static_cast<std::ptrdiff_t>(place);
        }
    }
    std::span<const std::int32_t> wanted() const { return wanted_; }
    std::size_t places() const { return start_.back(); }
    // The places of an expert's pairs begin here, and there are `rows` of them, in the order of the rows.
    std::size_t start(std::int32_t expert) const { return start_[static_cast<std::size_t>(expert)]; }
    std::size_t rows(std::int32_t expert) const { return start_[static_cast<std::size_t>(expert) + 1] - start(expert); }
    std::int32_t rowAt(std::size_t place) const { return rowOf_[place]; }
    // Where what a pair's expert gives is found; -1: it has none.
    std::ptrdiff_t placeOf(std::size_t pair) const { return placeOf_[pair]; }

  private:
    std::vector<std::size_t> start_;
    std::vector<std::int32_t> rowOf_, wanted_;
    std::vector<std::ptrdiff_t> placeOf_;
};

// One call: its operands in the order in which they are worked on.
class Mixture {
  public:
    Mixture(std::string_view op, const Routed& routed, std::size_t experts)
        : op_(op),
          values_(routed.x),
          x_(gapless(values_.ref(), routed.rows, xCopy_)),
          expert_(gapless(routed.expert, routed.choices, expertCopy_)),
          weight_(gapless(routed.weight, routed.choices, weightCopy_)),
          outer_(x_.extent[x_.rank - 1u]),
          slots_(expert_.extent[expert_.rank - 1u]),
          choices_(checked(experts), slots_, experts) {}

    // Runs all rows through their experts.
    void compute(const Experts& experts) {
        work_ = Work::none();
        work_.multiplyAdds = choices_.places() * outer_;
        work_.bytesRead = x_.size() * sizeof(float) + expert_.size() * (sizeof(std::int32_t) + sizeof(float));
        work_.bytesWritten = x_.size() * sizeof(float);
        results_ = Buffer(std::max<std::size_t>(1, choices_.places() * outer_) * sizeof(float));
        std::vector<std::int32_t> left(choices_.wanted().begin(), choices_.wanted().end());
        if (left.empty()) return;
        experts.forEach(choices_.wanted(), [&](std::span<const GivenExpert> given) {
            for (const GivenExpert& one : given)
                if (std::erase(left, one.expert) == 0)
                    throw ValueError(op_ + ": expert " + std::to_string(one.expert) + " was given and not asked for");
            run(given);
        });
        if (!left.empty())
            throw ValueError(op_ + ": expert " + std::to_string(left[0]) + " was asked for and not given");
    }

    // Row by row the weighted sum of what its experts gave, with a row of `add` if there are some.
    class Sums {
      public:
        explicit Sums(const Mixture& m)
            : outer_(m.outer_), first_(m.x_.size() / std::max<std::size_t>(1, m.outer_) + 1) {
            const auto* weight = static_cast<const float*>(m.weight_.data);
            for (std::size_t pair = 0; pair < m.expert_.size(); ++pair)
                if (const std::ptrdiff_t place = m.choices_.placeOf(pair); place >= 0) {
                    part_.push_back(m.resultAt(static_cast<std::size_t>(place)));
                    weight_.push_back(weight[pair]);
                    ++first_[pair / m.slots_ + 1];
                }
            for (std::size_t t = 1; t < first_.size(); ++t) first_[t] += first_[t - 1];
        }
        void run(const float* add, float* out) const {
            const std::size_t rows = first_.size() - 1,
                              values = outer_ * (part_.size() / std::max<std::size_t>(1, rows) + 1);
            parallelFor(rows, std::max<std::size_t>(1, valuesPerTask / std::max<std::size_t>(1, values)),
                        [&](std::size_t begin, std::size_t end) {
                            for (std::size_t t = begin; t < end; ++t)
                                kernels::weightedSum(out + t * outer_, add ? add + t * outer_ : nullptr,
                                                     part_.data() + first_[t], weight_.data() + first_[t],
                                                     first_[t + 1] - first_[t], outer_);
                        });
        }

      private:
        std::size_t outer_;
        std::vector<std::size_t> first_;  // of a row's parts
        std::vector<const float*> part_;
        std::vector<float> weight_;
    };

    // Of all, without the addition to a stream.
    Work work() const { return work_; }
    const Extents& extents() const { return x_.extent; }
    std::size_t rank() const { return x_.rank; }

  private:
    // The experts' numbers. Throws if operands do not fit.
    std::span<const std::int32_t> checked(std::size_t experts) const {
        for (std::size_t i = 0; i + 1 < x_.rank; ++i) requireSame(op_, x_.axis[i], x_.extent[i], expert_.extent[i]);
        for (std::size_t i = 0; i < expert_.rank; ++i)
            requireSame(op_, expert_.axis[i], expert_.extent[i], weight_.extent[i]);
        const std::span<const std::int32_t> all(static_cast<const std::int32_t*>(expert_.data), expert_.size());
        for (const std::int32_t e : all)
            if (e < -1 || e >= static_cast<std::int64_t>(experts))
                throw ValueError(op_ + ": expert " + std::to_string(e) + " is chosen, but there are " +
                                 std::to_string(experts));
        return all;
    }

    float* resultAt(std::size_t place) const { return static_cast<float*>(results_.data()) + place * outer_; }

    // A matrix of an expert as rows of weights.
    WeightRows rowsOf(const TensorRef& w, std::size_t rows, std::size_t columns) const {
        const FormatInfo& info = infoOf(w.format);
        if (w.extent[0] != rows || w.extent[1] != columns || (columns > 1 && w.stride[1] != 1) ||
            columns % info.blockElements != 0)
            throw ShapeError(op_ + ": an expert's matrix " + std::string(w.label) + describe(w) + " is no " +
                             std::to_string(rows) + " whole rows of " + std::to_string(columns));
        return {w.format, static_cast<const std::byte*>(w.data),
                w.stride[0] / info.blockElements * static_cast<std::ptrdiff_t>(info.blockBytes), w.slot};
    }

    // The rows of some experts: through gate and up into rows of the inner axis, then through down into results. All
    // experts are one list of work each time, those with most rows first.
    void run(std::span<const GivenExpert> given) {
        struct Section {
            const GivenExpert* expert;
            std::size_t rows, first;
        };
        std::vector<Section> sections;
        for (const GivenExpert& e : given)
            if (choices_.rows(e.expert) != 0) sections.push_back({&e, choices_.rows(e.expert), 0});
        if (sections.empty()) return;
        std::ranges::stable_sort(sections, std::greater(), &Section::rows);
        std::vector<std::int32_t> from, inPlace;
        for (Section& section : sections) {
            // Many rows begin at every 16th, where tiles of them begin.
            while (section.rows > fewActivations && from.size() % 16 != 0) {
                from.push_back(-1);
                inPlace.push_back(-1);
            }
            section.first = from.size();
            for (std::size_t i = 0; i < section.rows; ++i) {
                inPlace.push_back(static_cast<std::int32_t>(from.size()));
                from.push_back(choices_.rowAt(choices_.start(section.expert->expert) + i));
            }
        }
        const std::size_t inner = given[0].gate->extent[0];
        const Buffer between(std::max<std::size_t>(1, from.size() * inner) * sizeof(float));
        auto* const middle = static_cast<float*>(between.data());
        std::vector<RowsProduct> first, second;
        std::vector<WeightRows> ups;
        ups.reserve(sections.size());
        for (const auto& [expert, rows, at] : sections) {
            for (const TensorRef* w : {expert->gate, expert->up, expert->down}) {
                work_ = work::both(work_, work::dot(rows * inner, outer_, meetsCodes(w->format)));
                work_.bytesRead += bytesOf(w->format, w->size());
            }
            work_ = work::both(work_, work::swiglu(rows * inner));
            ups.push_back(rowsOf(*expert->up, inner, outer_));
            first.push_back({rowsOf(*expert->gate, inner, outer_), inner, at, rows, middle + at * inner,
                             static_cast<std::ptrdiff_t>(inner), nullptr, 0, &ups.back()});
            second.push_back({rowsOf(*expert->down, outer_, inner), outer_, at, rows,
                              resultAt(choices_.start(expert->expert)), static_cast<std::ptrdiff_t>(outer_)});
        }
        multiply(
            {static_cast<const float*>(x_.data), static_cast<std::ptrdiff_t>(outer_), from.size(), outer_, from.data()},
            first.data(), first.size());
        multiply({middle, static_cast<std::ptrdiff_t>(inner), from.size(), inner, inPlace.data()}, second.data(),
                 second.size());
    }

    std::string op_;
    AsFloat values_;
    Owned xCopy_, expertCopy_, weightCopy_;
    TensorRef x_, expert_, weight_;
    std::size_t outer_, slots_;
    Assignment choices_;
    Buffer results_;
    Work work_;
};

}  // namespace

Owned mixture(const Routed& routed, const Experts& experts, const std::string_view* names) {
    OpCall call("mixture", {&routed.x, &routed.expert, &routed.weight});
    Mixture all("mixture", routed, experts.count);
    all.compute(experts);
    Owned out = allocate(Format::f32, names, all.rank(), all.extents());
    Mixture::Sums(all).run(nullptr, static_cast<float*>(out.ref.data));
    call.done(out.ref, [&] { return all.work(); });
    return out;
}

Owned addMixture(Loan stream, const Routed& routed, const Experts& experts, const std::string_view* names) {
    if (!stream.ref->data || !routed.x.data || !routed.expert.data || !routed.weight.data) failEmpty("addMixture");
    Mixture all("addMixture", routed, experts.count);
    for (std::size_t i = 0; i < stream.ref->rank; ++i)
        requireSame("addMixture", stream.ref->axis[i], stream.ref->extent[i], all.extents()[i]);
    if (everyValueIsWatched() || stream.ref->format != Format::f32 || !stream.ref->isDense()) {
        const Owned given = mixture(routed, experts, names);
        AxisMap same{given.ref.rank, {}};
        for (std::size_t i = 0; i < same.rank; ++i) same.from[i] = static_cast<std::int8_t>(i);
        return pointwise(kernels::Pointwise::add, "add", stream, given.ref, {names, same, same});
    }
    OpCall call("addMixture", {stream.ref, &routed.x, &routed.expert, &routed.weight});
    all.compute(experts);
    const Mixture::Sums sums(all);  // the last that can fail
    const auto* add = static_cast<const float*>(stream.ref->data);
    Owned out = unlessShared(stream, {&routed.x, &routed.expert, &routed.weight}).claim(names);
    sums.run(add, static_cast<float*>(out.ref.data));
    call.done(out.ref, [&] {
        Work work = work::both(all.work(), work::add(out.ref.size()));
        work.bytesRead += out.ref.size() * sizeof(float);
        return work;
    });
    return out;
}

}  // namespace axial::erased
