#include "axial/llm/compare_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "axial/tensor/error.h"
#include "axial/tensor/half.h"

namespace axial::llm {
namespace {

using Reader = double (*)(const std::byte* data, std::size_t i);

template <class T>
double numberAt(const std::byte* data, std::size_t i) {
    T number;
    std::memcpy(&number, data + i * sizeof number, sizeof number);
    return static_cast<double>(number);
}

Reader readerOf(Format format) {
    switch (format) {
        case Format::f32:
            return numberAt<float>;
        case Format::f64:
            return numberAt<double>;
        case Format::f16:
            return [](const std::byte* data, std::size_t i) {
                return static_cast<double>(f16ToF32(static_cast<std::uint16_t>(numberAt<std::uint16_t>(data, i))));
            };
        case Format::bf16:
            return [](const std::byte* data, std::size_t i) {
                return static_cast<double>(bf16ToF32(static_cast<std::uint16_t>(numberAt<std::uint16_t>(data, i))));
            };
        case Format::i8:
            return numberAt<std::int8_t>;
        case Format::i16:
            return numberAt<std::int16_t>;
        case Format::i32:
            return numberAt<std::int32_t>;
        case Format::i64:
            return numberAt<std::int64_t>;
        default:
            throw UnsupportedError("compare: values stored as " + std::string(nameOf(format)) + " are not compared");
    }
}

bool isWhole(Format format) {
    return format == Format::i8 || format == Format::i16 || format == Format::i32 || format == Format::i64;
}

// What a number may lose when it is rounded to the format, as a part of it.
double roundingOf(Format format) {
    return format == Format::f16 ? std::ldexp(1.0, -11) : format == Format::bf16 ? std::ldexp(1.0, -8) : 0.0;
}

double distance(double got, double wanted) {
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return 0;
    const double apart = std::abs(got - wanted);
    return std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

// How the channels of a head are ordered in what was saved.
enum class Channels {
    same,
    halves,  // pairs here (2i, 2i + 1) are (i, i + n/2) there
    pairs,   // the other way round
};

// An order of the axes in what was saved, by their numbers in `got`.
struct Order {
    std::vector<std::size_t> axes;
    Channels channels = Channels::same;
};

bool isPlain(const Order& order) { return std::ranges::is_sorted(order.axes) && order.channels == Channels::same; }

// Whether extents are the same but for ones, and for neighbours merged on either side.
bool sameShape(std::span<const std::size_t> a, std::span<const std::size_t> b) {
    std::size_t i = 0, j = 0;
    const auto next = [](std::span<const std::size_t> list, std::size_t& at) {
        while (at < list.size() && list[at] == 1) ++at;
        return at < list.size() ? list[at++] : std::size_t{1};
    };
    for (;;) {
        std::size_t left = next(a, i), right = next(b, j);
        if (left == 1 && right == 1) return true;
        if (left == right) continue;
        // One axis of one side has to be several of the other.
        const bool isLeft = left < right;
        std::size_t& product = isLeft ? left : right;
        const std::size_t whole = isLeft ? right : left;
        while (product < whole) {
            const std::size_t more = isLeft ? next(a, i) : next(b, j);
            if (more == 1 || __builtin_mul_overflow(product, more, &product)) return false;
        }
        if (product != whole) return false;
    }
}

std::vector<std::size_t> inOrder(const TensorRef& got, const Order& order) {
    std::vector<std::size_t> extents;
    for (const std::size_t axis : order.axes) extents.push_back(got.extent[axis]);
    return extents;
}

class Comparison {
  public:
    Comparison(const TensorRef& got, const StoredTensor& wanted, double tolerance)
        : got_(got), wanted_(wanted), readGot_(readerOf(got.format)), readWanted_(readerOf(wanted.format)) {
        const std::size_t count = wanted.bytes / infoOf(wanted.format).blockBytes;
        for (std::size_t i = 0; i < count; ++i)
            if (const double size = std::abs(readWanted_(wanted.data, i)); std::isfinite(size))
                found_.magnitude = std::max(found_.magnitude, size);
        const bool exact = isWhole(got.format) && isWhole(wanted.format);
        found_.allowed = exact ? 0 : (tolerance + roundingOf(wanted.format)) * found_.magnitude;
    }

    ValueDifference find() {
        const std::vector<Order> orders = fittingOrders();
        if (orders.empty()) {
            found_.verdict = Verdict::otherExtents;
            return found_;
        }
        const auto agreeing = std::ranges::find_if(orders, [&](const Order& order) { return agrees(order); });
        const bool isFound = agreeing != orders.end();
        // Axes are taken in another order only where the extents ask for it; a head's channels also where they agree.
        const bool isMeant = isFound && (!isPlain(orders.front()) || std::ranges::is_sorted(agreeing->axes));
        const Order& order = isMeant ? *agreeing : orders.front();
        measure(order);
        found_.verdict = isMeant ? Verdict::within : Verdict::departs;
        if (!isPlain(order)) found_.order = describe(order);
        if (isFound && !isMeant) found_.wouldAgree = describe(*agreeing);
        return found_;
    }

  private:
    // The plain one first, if it fits.
    std::vector<Order> fittingOrders() const {
        std::vector<std::size_t> axes(got_.rank);
        std::iota(axes.begin(), axes.end(), 0);
        std::vector<std::vector<std::size_t>> all;
        if (got_.rank <= 4) {
            do all.push_back(axes);
            while (std::ranges::next_permutation(axes).found);
        } else {
            all.push_back(axes);
            for (std::size_t i = 0; i < axes.size(); ++i)
                for (std::size_t j = i + 1; j < axes.size(); ++j) {
                    all.push_back(axes);
                    std::swap(all.back()[i], all.back()[j]);
                }
        }
        std::vector<Order> fitting;
        for (const Channels channels : {Channels::same, Channels::halves, Channels::pairs})
            for (const auto& some : all)
                if ((channels == Channels::same || hasChannels()) &&
                    sameShape(inOrder(got_, {some, channels}), wanted_.extent))
                    fitting.push_back({some, channels});
        return fitting;
    }

    bool hasChannels() const {
        return got_.rank > 1 && got_.axis[got_.rank - 1] == "channel" && got_.extent[got_.rank - 1] % 2 == 0;
    }

    // Calls f(number of the value in got, and in wanted) for each, until it says false.
    template <class F>
    void each(const Order& order, const F& f) const {
        std::size_t stride[maxRank] = {}, at[maxRank] = {};
        for (std::size_t k = order.axes.size(), step = 1; k-- > 0; step *= got_.extent[order.axes[k]])
            stride[order.axes[k]] = step;
        const std::size_t count = got_.size(), last = got_.rank - 1u;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t place = 0;
            for (std::size_t axis = 0; axis < got_.rank; ++axis)
                place += stride[axis] * (axis == last ? channel(order, at[axis]) : at[axis]);
            if (!f(i, place)) return;
            for (std::size_t axis = got_.rank; axis-- > 0;) {
                if (++at[axis] < got_.extent[axis]) break;
                at[axis] = 0;
            }
        }
    }
    std::size_t channel(const Order& order, std::size_t c) const {
        const std::size_t half = got_.extent[got_.rank - 1u] / 2;
        switch (order.channels) {
            case Channels::same:
                return c;
            case Channels::halves:
                return c % 2 * half + c / 2;
            case Channels::pairs:
                return c % half * 2 + c / half;
        }
        return c;
    }

    double gotAt(std::size_t i) const { return readGot_(static_cast<const std::byte*>(got_.data), i); }

    bool agrees(const Order& order) const {
        bool all = true;
        each(order, [&](std::size_t i, std::size_t place) {
            return all = distance(gotAt(i), readWanted_(wanted_.data, place)) <= found_.allowed;
        });
        return all;
    }

    void measure(const Order& order) {
        std::size_t where = 0, its = 0, first = 0;
        double largest = -1;
        each(order, [&](std::size_t i, std::size_t place) {
            const double apart = distance(gotAt(i), readWanted_(wanted_.data, place));
            if (apart > largest) {
                largest = apart;
                where = i;
                its = place;
            }
            if (apart > found_.allowed && found_.departing++ == 0) first = i;
            return true;
        });
        if (largest < 0) return;  // there are no values
        found_.largest = largest;
        found_.got = gotAt(where);
        found_.wanted = readWanted_(wanted_.data, its);
        found_.at = positionOf(where);
        if (found_.departing != 0) found_.first = positionOf(first);
    }

    // The position on each axis of value number i.
    std::vector<std::size_t> positionOf(std::size_t i) const {
        std::vector<std::size_t> position(got_.rank);
        for (std::size_t axis = got_.rank; axis-- > 0; i /= got_.extent[axis]) position[axis] = i % got_.extent[axis];
        return position;
    }

    std::string describe(const Order& order) const {
        std::vector<std::size_t> moved;
        for (std::size_t k = 0; k < order.axes.size(); ++k)
            if (order.axes[k] != k) moved.push_back(k);
        const auto name = [&](std::size_t axis) { return std::string(got_.axis[axis]); };
        std::string text;
        if (moved.size() == 2) {
            text = "transposed: " + name(order.axes[moved[0]]) + " and " + name(order.axes[moved[1]]);
        } else if (!moved.empty()) {
            text = "in the order [";
            for (std::size_t k = 0; k < order.axes.size(); ++k) text += (k ? ", " : "") + name(order.axes[k]);
            text += "]";
        }
        if (order.channels == Channels::same) return text;
        const std::string halves = "halves (i, i + n/2)", pairs = "pairs (2i, 2i + 1)";
        const bool isHalves = order.channels == Channels::halves;
        return text + (text.empty() ? "" : ", ") + "with channels in " + (isHalves ? halves : pairs) + " that are in " +
               (isHalves ? pairs : halves) + " here";
    }

    const TensorRef& got_;
    const StoredTensor& wanted_;
    const Reader readGot_, readWanted_;
    ValueDifference found_;
};

}  // namespace

ValueDifference compareValue(const TensorRef& got, const StoredTensor& wanted, double tolerance) {
    return Comparison(got, wanted, tolerance).find();
}

std::string describeExtents(const StoredTensor& wanted, const TensorRef& got) {
    std::string text = "[";
    for (std::size_t i = 0; i < wanted.extent.size(); ++i) {
        if (i) text += ", ";
        if (wanted.extent.size() == got.rank) text += std::string(got.axis[i]) + "=";
        text += std::to_string(wanted.extent[i]);
    }
    return text + "]";
}

}  // namespace axial::llm
