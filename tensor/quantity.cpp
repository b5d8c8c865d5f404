#include "axial/tensor/quantity.h"

#include <cstdio>
#include <initializer_list>

namespace axial {
namespace {

std::string scaled(double value, double step, std::initializer_list<const char*> units, bool whole) {
    auto unit = units.begin();
    for (; value >= step && unit + 1 != units.end(); ++unit) value /= step;
    char text[48];
    std::snprintf(text, sizeof text, whole && unit == units.begin() ? "%.0f%s" : "%.2f%s", value, *unit);
    return text;
}

}  // namespace

std::string inBytes(std::uint64_t bytes) {
    return scaled(static_cast<double>(bytes), 1024, {" B", " KiB", " MiB", " GiB", " TiB"}, true);
}
std::string inCount(std::uint64_t count, const char* billions) {
    return scaled(static_cast<double>(count), 1000, {"", " k", " M", billions}, true);
}
std::string inTime(std::chrono::nanoseconds time) {
    return scaled(static_cast<double>(time.count()) / 1000, 1000, {" us", " ms", " s"}, false);
}

}  // namespace axial
