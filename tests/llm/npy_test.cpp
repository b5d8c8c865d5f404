// Checks written .npy files against the bytes of NumPy's own specification.
#include "axial/llm/npy.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "axial/tensor/error.h"

namespace axial::llm {
namespace {

std::string written(std::span<const float> values, std::span<const std::size_t> extents) {
    const auto path = std::filesystem::temp_directory_path() / "axial_npy_test.npy";
    writeNpy(path, values, extents);
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    return bytes;
}

TEST_CASE("npy: header and values") {
    const std::vector<float> values = {1.5f, -2, 0, 3, 4, 5};
    const std::size_t two[] = {2, 3}, one[] = {6};
    for (const auto& [extents, shape] : {std::pair{std::span<const std::size_t>(two), std::string("(2, 3)")},
                                         std::pair{std::span<const std::size_t>(one), std::string("(6,)")}}) {
        const std::string bytes = written(values, extents);
        // Magic, version, the header's length so that the data start at a multiple of 64.
        REQUIRE(bytes.size() == 128 + sizeof(float) * values.size());
        CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
        const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
        CHECK(bytes.substr(10, dictionary.size()) == dictionary);
        CHECK(bytes.find_first_not_of(' ', 10 + dictionary.size()) == 127);
        CHECK(bytes[127] == '\n');
        CHECK(std::memcmp(bytes.data() + 128, values.data(), sizeof(float) * values.size()) == 0);
    }
}

TEST_CASE("npy: whole numbers") {
    const std::int32_t ids[] = {-1, 151935};
    const std::size_t extents[] = {2};
    const auto path = std::filesystem::temp_directory_path() / "axial_npy_ids_test.npy";
    writeNpy(path, ids, extents);
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    REQUIRE(bytes.size() == 128 + sizeof ids);
    CHECK(bytes.find("'descr': '<i4', 'fortran_order': False, 'shape': (2,)") != bytes.npos);
    CHECK(std::memcmp(bytes.data() + 128, ids, sizeof ids) == 0);
}

TEST_CASE("npy: what cannot be written is said, with the reason") {
    const float value = 1;
    const std::size_t one[] = {1}, two[] = {2};
    CHECK_THROWS_WITH_AS(writeNpy("/no/such/folder/x.npy", {&value, 1}, one),
                         "/no/such/folder/x.npy: cannot be written: No such file or directory", FileError);
    CHECK_THROWS_WITH_AS(writeNpy("/dev/full", {&value, 1}, one),
                         "/dev/full: cannot be written: No space left on device", FileError);
    CHECK_THROWS_AS(writeNpy("never.npy", {&value, 1}, two), ShapeError);
    CHECK(!std::filesystem::exists("never.npy"));
}

}  // namespace
}  // namespace axial::llm
