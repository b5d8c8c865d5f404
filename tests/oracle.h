// Reading the reference data: arrays and whether they are there at all.
#pragma once
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace oracle {

inline std::filesystem::path path(const std::string& name) { return std::filesystem::path(AXIAL_ORACLE) / name; }

// Whether the reference data is there; says so if not. A test that needs it returns then.
inline bool present() {
    static const bool is = std::filesystem::exists(path("README.md"));
    if (!is) MESSAGE("skipped: there is no reference data at " AXIAL_ORACLE);
    return is;
}

inline nlohmann::json json(const std::string& name) {
    std::ifstream in(path(name));
    return nlohmann::json::parse(in);
}

// A .npy array of float32, float64 or int32 as doubles.
struct Array {
    std::vector<std::size_t> extent;
    std::vector<double> values;
};

inline Array readNpy(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0)
        throw std::runtime_error("not a .npy file: " + file.string());
    const std::size_t header = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
    const std::string text = bytes.substr(10, header);
    Array a;
    const std::size_t open = text.find('(', text.find("shape"));
    std::size_t count = 1;
    for (const char* p = text.c_str() + open + 1; *p != ')';) {
        char* end = nullptr;
        const unsigned long n = std::strtoul(p, &end, 10);
        if (end == p)
            ++p;
        else
            a.extent.push_back(n), count *= n, p = end;
    }
    const char* data = bytes.data() + 10 + header;
    const auto read = [&]<class T>(T) {
        for (std::size_t i = 0; i < count; ++i) {
            T v;
            std::memcpy(&v, data + i * sizeof v, sizeof v);
            a.values.push_back(static_cast<double>(v));
        }
    };
    if (text.find("<f8") != std::string::npos)
        read(double{});
    else if (text.find("<f4") != std::string::npos)
        read(float{});
    else if (text.find("<i4") != std::string::npos)
        read(int{});
    else
        throw std::runtime_error("a .npy type that is not read here: " + text);
    return a;
}

// How far computed values are from the reference: rms(difference) / rms(reference), and the largest difference.
struct Distance {
    double relativeRms = 0, largest = 0;
};
inline Distance distance(std::span<const float> got, std::span<const double> want) {
    double square = 0, reference = 0, largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        const double difference = static_cast<double>(got[i]) - want[i];
        square += difference * difference;
        reference += want[i] * want[i];
        largest = std::isnan(difference) ? INFINITY : std::max(largest, std::abs(difference));
    }
    return {std::sqrt(square / reference), largest};
}

}  // namespace oracle
