// Five minutes with named axes: what a tensor is, how axes meet, what stops a mistake.
#include <iostream>

#include "axial/ops/dot.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/reduce.h"
#include "axial/ops/softmax.h"
#include "axial/ops/structure.h"
#include "axial/tensor/print.h"

using namespace axial;

// An axis is declared once, anywhere. Its type is its name.
constexpr Axis<"day"> day;
constexpr Axis<"city"> city;
constexpr Axis<"part"> part;
constexpr Axis<"other"> other;
constexpr Axis<"rgb", 3> rgb;  // an axis that always has three positions

namespace {

void makeAndRead() {
    std::cout << "-- A tensor's type says its axes; city(3) is an extent here and a position there.\n";
    const auto rain = tensor<float>({1, 2, 3, 4, 5, 6}, day(2), city(3));  // is a Tensor<float, day, city>
    std::cout << rain << "on day 1 in city 2: " << rain(day(1), city(2)) << "\nday 1: " << rain(day(1)) << '\n';
}

void meetByName() {
    std::cout
        << "-- Operands meet by name, in any order. An axis that one side lacks is broadcast; a size of 1 is not.\n";
    const auto rain = tensor<float>({1, 2, 3, 4, 5, 6}, day(2), city(3));
    const auto offset = tensor<float>({10, 20, 30}, city(3));
    std::cout << add(rain, offset);
    // Order is layout, never meaning: rain.as(city, day) is the same numbers, seen the other way round.
    std::cout << sub(rain, rain.as(city, day)) << sum(rain, day) << '\n';
    // add(sum(rain, day), sum(rain, city)) does not compile:
    //   add: [city] and [day] share no axis; if an outer product is meant, say outer()
}

void contract() {
    std::cout << "-- dot sums over the axes that are named; the others stay.\n";
    const auto rain = tensor<float>({1, 2, 3, 4, 5, 6}, day(2), city(3));
    const auto weights = tensor<float>({0.5f, 0.25f, 0.25f}, city(3));
    std::cout << dot(rain, weights, city);
    // Two roles of one axis need two names: how alike are two days?
    std::cout << dot(rain, rain.rename(day, other), city) << '\n';
    // dot(rain, weights, day) does not compile: dot: [city] has no axis day
}

void regroup() {
    std::cout << "-- split, merge, narrow and index make views: no number moves.\n";
    const auto hours = tensor<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, day(12));
    const auto parts = hours.split(day, part(3), other);  // one size may be left out
    std::cout << parts << parts(other(2)) << parts.narrow(part, 1, 2).merge(day, part, other) << '\n';
}

void handOver() {
    std::cout << "-- A tensor that is handed over with std::move lends its buffer to the result.\n";
    auto x = tensor<float>({1, 2, 3}, city(3));
    const float* before = x.data();
    x = scale(std::move(x), 2);
    x.replace([](auto&& v) { return softmax(std::move(v), city); });  // x = f(std::move(x)); if f throws, x stays
    std::cout << x << (x.data() == before ? "the same memory" : "new memory") << "\n\n";
}

void mistakes() {
    std::cout << "-- Wrong names do not compile. Wrong sizes throw, and say what met what.\n";
    try {
        (void)add(zeros<float>(city(3)), zeros<float>(city(1)));
    } catch (const ShapeError& error) {
        std::cout << error.what() << '\n';
    }
    try {
        (void)zeros<float>(rgb(4));
    } catch (const ShapeError& error) {
        std::cout << error.what() << '\n';
    }
}

}  // namespace

int main() {
    makeAndRead();
    meetByName();
    contract();
    regroup();
    handOver();
    mistakes();
}
