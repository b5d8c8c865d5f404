#include "axial/tensor/decode.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "axial/tensor/decode_grids.h"
#include "axial/tensor/encode.h"
#include "axial/tensor/error.h"

namespace {

using axial::Format;
using nlohmann::json;

std::vector<std::byte> bytesOfHex(const std::string& hex) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return bytes;
}

std::uint32_t bitsOf(float value) { return std::bit_cast<std::uint32_t>(value); }

bool sameBits(const std::vector<float>& values, const std::vector<std::byte>& expected) {
    return expected.size() == values.size() * sizeof(float) &&
           std::memcmp(values.data(), expected.data(), expected.size()) == 0;
}

std::vector<float> decoded(Format format, const std::vector<std::byte>& bytes) {
    const axial::FormatInfo& info = axial::infoOf(format);
    std::vector<float> values(bytes.size() / info.blockBytes * info.blockElements);
    axial::decode(format, bytes.data(), values.size(), values.data());
    return values;
}

json readJson(const std::filesystem::path& path) { return json::parse(std::ifstream(path)); }

}  // namespace

TEST_CASE("decode: every block format, bit for bit as gguf-py and ggml") {
    const std::filesystem::path folder = std::filesystem::path(AXIAL_ORACLE) / "dequant";
    if (!std::filesystem::exists(folder)) {
        MESSAGE("not run: no " << folder.string());
        return;
    }
    std::size_t files = 0, blocked = 0;
    for (const axial::FormatInfo& info : axial::formats) {
        const std::filesystem::path path = folder / (std::string(info.name) + ".json");
        if (!std::filesystem::exists(path)) continue;
        CAPTURE(info.name);
        const json reference = readJson(path);
        CHECK(reference.at("type_id") == info.ggufId);
        CHECK(reference.at("block_size") == info.blockElements);
        CHECK(reference.at("type_size") == info.blockBytes);
        const auto bytes = bytesOfHex(reference.at("bytes"));
        CHECK(sameBits(decoded(info.format, bytes), bytesOfHex(reference.at("values"))));
        ++files;
        if (info.blockElements > 1) ++blocked;
    }
    CHECK(files == 25);
    CHECK(blocked == 23);
}

TEST_CASE("decode: blocks worked out by hand, for a checkout without the reference files") {
    // d = 0.5 (0x3800), m = -1 (0xbc00); code j is j in the low halves and 15 - j in the high halves
    std::string codes;
    for (int j = 0; j < 16; ++j) codes += std::string(1, "fedcba9876543210"[j]) + "0123456789abcdef"[j];
    const auto q4_0 = decoded(Format::q4_0, bytesOfHex("0038" + codes));
    const auto q4_1 = decoded(Format::q4_1, bytesOfHex("003800bc" + codes));
    const auto iq4 = decoded(Format::iq4_nl, bytesOfHex("0038" + codes));
    for (int j = 0; j < 16; ++j) {
        CHECK(q4_0[j] == 0.5f * static_cast<float>(j - 8));
        CHECK(q4_0[j + 16] == 0.5f * static_cast<float>(7 - j));
        CHECK(q4_1[j] == 0.5f * static_cast<float>(j) - 1);
        CHECK(iq4[j] == 0.5f * static_cast<float>(axial::iq4Levels[j]));
    }
    CHECK(decoded(Format::mxfp4, bytesOfHex("7f" + codes))[7] == 6.0f);  // E2M1's largest, with the scale 2^0
    CHECK(decoded(Format::i8, bytesOfHex("80017f")) == std::vector<float>{-128, 1, 127});
    CHECK(decoded(Format::i16, bytesOfHex("0080ff7f")) == std::vector<float>{-32768, 32767});
    CHECK(decoded(Format::i32, bytesOfHex("ffffffff01000001")) == std::vector<float>{-1, 16777216});  // ties to even
    CHECK(decoded(Format::i64, bytesOfHex("0000000000000080")) == std::vector<float>{-0x1p63f});
    CHECK(decoded(Format::f64, bytesOfHex("000000000000f8bf")) == std::vector<float>{-1.5f});
    CHECK(decoded(Format::f32, bytesOfHex("0000c07f"))[0] != 0.0f);
}

TEST_CASE("decode: a part of a block is refused") {
    std::vector<std::byte> bytes(210);
    std::vector<float> out(256, 7.0f);
    CHECK_THROWS_WITH_AS(axial::decode(Format::q6_k, bytes.data(), 255, out.data()),
                         "decode: 255 elements are not whole blocks of 256 (Q6_K)", axial::ShapeError);
    CHECK(out == std::vector<float>(256, 7.0f));
    axial::decode(Format::q6_k, bytes.data(), 0, out.data());
    CHECK(out == std::vector<float>(256, 7.0f));
}

TEST_CASE("decode: signs of which an even number is set") {
    for (unsigned bits = 0; bits < 128; ++bits) {
        CHECK((axial::evenSigns(bits) & 127u) == bits);
        CHECK(std::popcount(axial::evenSigns(bits)) % 2 == 0);
    }
}

namespace {
// FNV-1a over a code book's bytes, first value first.
template <class Group, std::size_t N>
std::uint64_t digest(const std::array<Group, N>& grid) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const Group group : grid)
        for (std::size_t j = 0; j < sizeof(Group); ++j) hash = (hash ^ (group >> (8 * j) & 0xffu)) * 0x100000001b3u;
    return hash;
}
}  // namespace

TEST_CASE("decode: the code books are ggml's, by digests taken from the tables in its ggml-common.h") {
    CHECK(digest(axial::iq2xxsGrid) == 0xbb4ee025b5ac6e8eu);
    CHECK(digest(axial::iq2xsGrid) == 0xc9b1ee61e79909bdu);
    CHECK(digest(axial::iq2sGrid) == 0x123edd38a3b62b90u);
    CHECK(digest(axial::iq1Grid) == 0x6703ed863501ae2eu);
    CHECK(digest(axial::iq3xxsGrid) == 0xdfa5dc83d6a155d5u);
    CHECK(digest(axial::iq3sGrid) == 0xfa37020c25b44829u);
}

TEST_CASE("f16: all 65536 patterns to float and back") {
    CHECK(axial::f16ToF32(0x0001) == 0x1p-24f);
    CHECK(axial::f16ToF32(0x03ff) == 1023 * 0x1p-24f);
    CHECK(axial::f16ToF32(0x0400) == 0x1p-14f);
    CHECK(axial::f16ToF32(0x7bff) == 65504.0f);
    CHECK(bitsOf(axial::f16ToF32(0x8000)) == 0x80000000u);
    CHECK(std::isinf(axial::f16ToF32(0x7c00)));
    std::size_t wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const auto half = static_cast<std::uint16_t>(pattern);
        const int exponent = half >> 10 & 31, fraction = half & 1023;
        const float value = axial::f16ToF32(half);
        if (exponent == 31 && fraction != 0) {
            wrong += !std::isnan(value) || std::signbit(value) != (half >> 15 != 0) ||
                     axial::f32ToF16(value) != (half | 0x0200);
            continue;
        }
        const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                                 : exponent == 0 ? std::ldexp(fraction, -24)
                                                 : std::ldexp(1024 + fraction, exponent - 25);
        wrong += static_cast<double>(value) != (half >> 15 != 0 ? -magnitude : magnitude);
        wrong += std::signbit(value) != (half >> 15 != 0) || axial::f32ToF16(value) != half;
    }
    CHECK(wrong == 0);
}

TEST_CASE("f16: rounding between every two neighbours is to nearest, ties to even") {
    std::size_t wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 0x7bff; ++pattern) {
        const auto lower = static_cast<std::uint16_t>(pattern), upper = static_cast<std::uint16_t>(pattern + 1);
        const float middle = (axial::f16ToF32(lower) + axial::f16ToF32(upper)) / 2;  // exact: one bit more
        const std::uint16_t even = pattern % 2 == 0 ? lower : upper;
        wrong += axial::f32ToF16(middle) != even || axial::f32ToF16(-middle) != (even | 0x8000);
        wrong += axial::f32ToF16(std::nextafter(middle, 0.0f)) != lower;
        wrong += axial::f32ToF16(std::nextafter(middle, 1e9f)) != upper;
    }
    CHECK(wrong == 0);
    CHECK(axial::f32ToF16(65519.996f) == 0x7bff);
    CHECK(axial::f32ToF16(65520.0f) == 0x7c00);
    CHECK(axial::f32ToF16(1e30f) == 0x7c00);
    CHECK(axial::f32ToF16(-std::numeric_limits<float>::infinity()) == 0xfc00);
    CHECK(axial::f32ToF16(0x1p-25f) == 0);
    CHECK(axial::f32ToF16(std::nextafter(0x1p-25f, 1.0f)) == 1);
    CHECK(axial::f32ToF16(-1e-40f) == 0x8000);
}

#if defined(__x86_64__) && defined(__GNUC__)
namespace {
typedef float FourFloats __attribute__((vector_size(16)));
typedef short EightHalves __attribute__((vector_size(16)));

__attribute__((target("f16c"))) float hardwareToF32(std::uint16_t half) {
    return __builtin_ia32_vcvtph2ps(EightHalves{static_cast<short>(half)})[0];
}
__attribute__((target("f16c"))) std::uint16_t hardwareToF16(float value) {
    return static_cast<std::uint16_t>(__builtin_ia32_vcvtps2ph(FourFloats{value}, 0)[0]);
}
}  // namespace

TEST_CASE("f16: the same as the processor's own conversion, NaN included") {
    if (!__builtin_cpu_supports("avx2")) {  // clang 16 cannot ask for f16c; whatever has AVX2 has it
        MESSAGE("not run: no F16C");
        return;
    }
    std::size_t wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const auto half = static_cast<std::uint16_t>(pattern);
        wrong += bitsOf(axial::f16ToF32(half)) != bitsOf(hardwareToF32(half));
    }
    for (std::uint64_t pattern = 0; pattern < 0x100000000; pattern += 1009) {  // four million floats of every kind
        const float value = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
        wrong += axial::f32ToF16(value) != hardwareToF16(value);
    }
    CHECK(wrong == 0);
}
#endif

TEST_CASE("bf16: exact one way, to nearest even the other") {
    std::size_t wrong = 0;
    for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
        const auto half = static_cast<std::uint16_t>(pattern);
        const float value = axial::bf16ToF32(half);
        wrong += bitsOf(value) != pattern << 16;
        wrong += axial::f32ToBf16(value) != (std::isnan(value) ? half | 0x40 : half);
    }
    CHECK(wrong == 0);
    const auto rounded = [](std::uint32_t bits) { return axial::f32ToBf16(std::bit_cast<float>(bits)); };
    CHECK(rounded(0x3f808000) == 0x3f80);  // a tie, the lower one even
    CHECK(rounded(0x3f818000) == 0x3f82);  // a tie, the upper one even
    CHECK(rounded(0x3f808001) == 0x3f81);
    CHECK(rounded(0x3f80ffff) == 0x3f81);
    CHECK(rounded(0x7f7fffff) == 0x7f80);  // past the largest: infinity
    CHECK(rounded(0x7f800001) == 0x7fc0);  // a signalling NaN whose payload would be cut off
    CHECK(rounded(0xffc12345) == 0xffc1);
}

TEST_CASE("quantizeQ8_0: byte for byte as gguf-py") {
    const std::filesystem::path path = std::filesystem::path(AXIAL_ORACLE) / "ops" / "quantizeQ8_0.json";
    if (!std::filesystem::exists(path)) {
        MESSAGE("not run: no " << path.string());
        return;
    }
    std::size_t rows = 0;
    const json reference = readJson(path);
    for (const json& test : reference.at("cases")) {
        const auto expected = bytesOfHex(test.at("bytes").get<std::string>());
        std::vector<std::byte> all;
        for (const json& row : test.at("x")) {
            const auto x = row.get<std::vector<float>>();
            std::vector<std::byte> out(axial::bytesOf(Format::q8_0, x.size()));
            axial::quantizeQ8_0(x.data(), x.size(), out.data());
            all.insert(all.end(), out.begin(), out.end());
            ++rows;
        }
        CHECK(all == expected);
    }
    CHECK(rows == 4);
}

TEST_CASE("quantizeQ8_0: halves go away from zero, tiny blocks to zero, and what cannot be stored is refused") {
    std::vector<float> x(32, 0.0f);
    std::vector<std::byte> out(34);
    x[0] = 127, x[1] = 2.5f, x[2] = -2.5f, x[3] = 0.5f;
    axial::quantizeQ8_0(x.data(), 32, out.data());
    const auto code = [&](int i) { return static_cast<int>(static_cast<std::int8_t>(out[2 + i])); };
    CHECK(out[1] == std::byte{0x3c});
    CHECK(code(0) == 127);
    CHECK(code(1) == 3);
    CHECK(code(2) == -3);
    CHECK(code(3) == 1);

    std::fill(x.begin(), x.end(), 1e-44f);
    axial::quantizeQ8_0(x.data(), 32, out.data());
    CHECK(out == std::vector<std::byte>(34));

    CHECK_THROWS_WITH_AS(axial::quantizeQ8_0(x.data(), 31, out.data()),
                         "quantizeQ8_0: 31 values are not whole blocks of 32", axial::ShapeError);
    x[5] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THROWS_AS(axial::quantizeQ8_0(x.data(), 32, out.data()), axial::ValueError);
    x[5] = 1e9f;
    CHECK_THROWS_AS(axial::quantizeQ8_0(x.data(), 32, out.data()), axial::ValueError);
    x[5] = 8e6f;
    axial::quantizeQ8_0(x.data(), 32, out.data());
    CHECK(code(5) == 127);
}
