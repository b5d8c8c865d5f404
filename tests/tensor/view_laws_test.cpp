// Random chains of structural changes on random tensors, against a model that only knows an index function.
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "axial/tensor/tensor.h"

using namespace axial;

namespace {

using Position = std::map<std::string, std::size_t>;

// What a view means: names, extents, and the value at a position. Each change makes a new function of the old one.
struct Model {
    std::vector<std::string> axis;
    Position extent;
    std::function<float(const Position&)> at;

    void change(std::size_t k, std::vector<std::string> by, std::function<Position(Position)> back) {
        axis.erase(axis.begin() + std::ptrdiff_t(k));
        axis.insert(axis.begin() + std::ptrdiff_t(k), by.begin(), by.end());
        at = [old = at, back = std::move(back)](const Position& p) { return old(back(p)); };
    }
};

// A table of names that lives as long as a TensorRef that points to it may.
const std::string_view* table(const std::vector<std::string>& axis) {
    static std::vector<std::unique_ptr<std::vector<std::string>>> texts;
    static std::vector<std::unique_ptr<std::vector<std::string_view>>> tables;
    texts.push_back(std::make_unique<std::vector<std::string>>(axis));
    tables.push_back(std::make_unique<std::vector<std::string_view>>(texts.back()->begin(), texts.back()->end()));
    return tables.back()->data();
}

float valueAt(const TensorRef& v, const Position& p) {
    const auto* data = static_cast<const float*>(v.data);
    for (std::size_t i = 0; i < v.rank; ++i)
        data += static_cast<std::ptrdiff_t>(p.at(std::string(v.axis[i]))) * v.stride[i];
    return *data;
}

void requireEqual(const TensorRef& v, const Model& m) {
    RC_ASSERT(std::size_t{v.rank} == m.axis.size());
    for (std::size_t i = 0; i < v.rank; ++i) {
        RC_ASSERT(std::string(v.axis[i]) == m.axis[i]);
        RC_ASSERT(v.extent[i] == m.extent.at(m.axis[i]));
    }
    const std::size_t size = v.size();
    for (std::size_t flat = 0; flat < size; ++flat) {
        Position p;
        std::size_t rest = flat;
        for (std::size_t i = v.rank; i-- > 0; rest /= v.extent[i]) p[m.axis[i]] = rest % v.extent[i];
        RC_ASSERT(valueAt(v, p) == m.at(p));
    }
}

std::size_t upTo(std::size_t n) { return *rc::gen::inRange<std::size_t>(0, n + 1); }

struct Chain {
    std::vector<float> numbers;
    TensorRef v;
    Model m;
    int fresh = 0;

    std::string freshName() { return "x" + std::to_string(fresh++); }

    Chain() {
        const std::size_t rank = 1 + upTo(3);
        Extents extent{};
        for (std::size_t i = 0; i < rank; ++i) {
            m.axis.push_back(freshName());
            m.extent[m.axis[i]] = extent[i] = *rc::gen::element<std::size_t>(0, 1, 1, 2, 3, 4, 6, 6);
        }
        v = dense(Format::f32, table(m.axis), rank, extent);
        numbers.resize(v.size());
        std::iota(numbers.begin(), numbers.end(), 0.f);
        v.data = numbers.data();
        const auto strides = v.stride;
        m.at = [axis = m.axis, strides](const Position& p) {
            std::ptrdiff_t at = 0;
            for (std::size_t i = 0; i < axis.size(); ++i) at += static_cast<std::ptrdiff_t>(p.at(axis[i])) * strides[i];
            return float(at);
        };
    }

    void rename(std::size_t k) {
        const std::string old = m.axis[k], now = freshName();
        m.extent[now] = m.extent[old];
        m.change(k, {now}, [=](Position p) { return p[old] = p.at(now), p; });
        v = renamed(v, table(m.axis));
    }
    void reorder() {
        std::vector<std::size_t> order(m.axis.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[upTo(i)]);
        AxisMap map{static_cast<std::uint8_t>(order.size()), {}};
        std::vector<std::string> axis;
        for (std::size_t i = 0; i < order.size(); ++i) {
            map.from[i] = static_cast<std::int8_t>(order[i]);
            axis.push_back(m.axis[order[i]]);
        }
        m.axis = axis;
        v = renamed(arranged(v, map), table(axis));
    }
    void narrow(std::size_t k) {
        const std::string x = m.axis[k];
        const std::size_t first = upTo(m.extent[x]), count = upTo(m.extent[x] - first);
        m.extent[x] = count;
        m.at = [old = m.at, x, first](Position p) { return p[x] += first, old(p); };
        v = narrowed(v, k, first, count);
    }
    void index(std::size_t k) {
        const std::string x = m.axis[k];
        if (m.extent[x] == 0) return;
        const std::size_t i = upTo(m.extent[x] - 1);
        m.change(k, {}, [=](Position p) { return p[x] = i, p; });
        std::size_t at[maxRank];
        std::fill_n(at, maxRank, unsaid);
        at[k] = i;
        v = picked(v, at, table(m.axis));
    }
    void split(std::size_t k) {
        if (m.axis.size() == maxRank) return;
        const std::string x = m.axis[k], outer = freshName(), inner = freshName();
        const std::size_t n = m.extent[x];
        std::vector<std::size_t> divisors;
        for (std::size_t s = 1; s <= n; ++s)
            if (n % s == 0) divisors.push_back(s);
        const std::size_t innerSize = n == 0 ? 1 + upTo(2) : *rc::gen::elementOf(divisors);
        m.extent[outer] = n / innerSize;
        m.extent[inner] = innerSize;
        m.change(k, {outer, inner}, [=](Position p) { return p[x] = p.at(outer) * innerSize + p.at(inner), p; });
        const bool outerSaid = upTo(1) != 0;
        const std::size_t sizes[] = {outerSaid ? n / innerSize : unsaid,
                                     outerSaid && upTo(1) && n != 0 ? unsaid : innerSize};
        v = splitAxis(v, k, sizes, 2, table(m.axis));
    }
    // Merging is refused unless the axes are laid out as one; if it is done it must mean what it says.
    void merge(std::size_t k) {
        if (k + 1 >= m.axis.size()) return;
        const std::size_t count = 2 + upTo(m.axis.size() - k - 2);
        const std::vector<std::string> part(m.axis.begin() + std::ptrdiff_t(k),
                                            m.axis.begin() + std::ptrdiff_t(k + count));
        Model after = m;
        const std::string into = freshName();
        std::size_t product = 1;
        std::vector<std::size_t> extents;
        for (const std::string& x : part) product *= extents.emplace_back(m.extent[x]);
        after.extent[into] = product;
        after.axis.erase(after.axis.begin() + std::ptrdiff_t(k + 1), after.axis.begin() + std::ptrdiff_t(k + count));
        after.change(k, {into}, [=](Position p) {
            std::size_t rest = p.at(into);
            for (std::size_t i = part.size(); i-- > 0; rest /= extents[i]) p[part[i]] = rest % extents[i];
            return p;
        });
        const bool dense = v.isDense();
        try {
            v = mergeAxes(v, k, count, table(after.axis));
            m = after;
        } catch (const ShapeError&) {
            RC_ASSERT(!dense);  // what is dense can always be merged
        }
    }
    void step() {
        if (m.axis.empty()) return;
        const std::size_t k = upTo(m.axis.size() - 1);
        switch (upTo(5)) {
            case 0:
                return rename(k);
            case 1:
                return reorder();
            case 2:
                return narrow(k);
            case 3:
                return split(k);
            case 4:
                return merge(k);
            default:
                return index(k);
        }
    }
};

}  // namespace

TEST_CASE("chains of structural changes mean what an index function says") {
    std::map<std::string, int> done;
    CHECK(rc::check([&] {
        Chain chain;
        const std::size_t steps = upTo(8);
        for (std::size_t i = 0; i < steps; ++i) {
            chain.step();
            requireEqual(chain.v, chain.m);
        }
        ++done[std::to_string(chain.m.axis.size())];
    }));
    CHECK(done.size() > 3);  // ranks that the chains ended with
}

TEST_CASE("dense is what it says: neighbours in the axes' order are neighbours in memory") {
    CHECK(rc::check([] {
        Chain chain;
        for (std::size_t i = upTo(5); i-- > 0;) chain.step();
        const TensorRef& v = chain.v;
        std::size_t outOfPlace = 0;
        for (std::size_t flat = 0, n = v.size(); flat < n; ++flat) {
            std::ptrdiff_t at = 0;
            std::size_t rest = flat;
            for (std::size_t i = v.rank; i-- > 0; rest /= v.extent[i])
                at += static_cast<std::ptrdiff_t>(rest % v.extent[i]) * v.stride[i];
            outOfPlace += at != static_cast<std::ptrdiff_t>(flat);
        }
        RC_ASSERT(v.isDense() == (outOfPlace == 0));
    }));
}
