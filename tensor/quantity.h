// Quantities as people write them.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace axial {

// "640 B", "1.50 KiB", "2.20 GiB".
std::string inBytes(std::uint64_t bytes);
// "640", "1.50 k", "2.20 M", "2.20 G", or what billions are called.
std::string inCount(std::uint64_t count, const char* billions = " G");
// "12.34 us", "1.23 ms", "2.50 s".
std::string inTime(std::chrono::nanoseconds time);

}  // namespace axial
