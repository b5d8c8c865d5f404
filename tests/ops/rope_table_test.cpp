#include "axial/ops/rope_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "ops/samples.h"

using namespace axial;
using namespace axial::axes;

TEST_CASE("rope table: frequencies scaled as ggml scales them") {
    std::ifstream file(AXIAL_TEST_DATA "/rope_scaling.json");
    REQUIRE(file);
    const auto reference = nlohmann::json::parse(file);
    REQUIRE(reference["cases"].size() == 7);
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        RopeParameters p;
        p.channels = c["channels"].get<std::size_t>();
        p.theta = c["theta"].get<double>();
        p.frequencyFactors = c["frequencyFactors"].get<std::vector<float>>();
        p.scaling.factor = c["factor"].get<double>();
        p.scaling.kind = c["yarn"].get<bool>()   ? RopeScaling::Kind::yarn
                         : p.scaling.factor != 1 ? RopeScaling::Kind::linear
                                                 : RopeScaling::Kind::none;
        p.scaling.originalContext = c["originalContext"].get<double>();
        p.scaling.betaFast = c["betaFast"].get<double>();
        p.scaling.betaSlow = c["betaSlow"].get<double>();
        const auto positions = c["positions"].get<std::vector<std::int32_t>>();
        const RopeTable table = Rope(p).table(positions);  // [seq, turn, pair]: cosines, then sines
        const auto want = c["out"].get<std::vector<double>>();
        for (std::size_t s = 0; s < positions.size(); ++s) {
            CAPTURE(positions[s]);
            double largest = 0;
            for (std::size_t i = 0; i < p.channels; ++i)
                largest = std::max(largest, std::abs(static_cast<double>(table.values()[s * p.channels + i]) -
                                                     want[s * p.channels + i]));
            CHECK(largest < 2e-7 + 2e-7 * positions[s]);
        }
    }
}

TEST_CASE("rope table: Llama 3 scaling, as the release defines it by wavelengths") {
    for (const double factor : {8.0, 32.0}) {
        RopeParameters p;
        p.channels = 128;
        p.theta = 500000;
        const Rope plain(p);
        p.scaling.kind = RopeScaling::Kind::llama3;
        p.scaling.factor = factor;
        p.scaling.originalContext = 8192;
        const Rope scaled(p);
        std::size_t kept = 0, divided = 0, between = 0;
        for (std::size_t i = 0; i < 64; ++i) {
            const double frequency = plain.frequencies()[i], wavelength = 2 * std::numbers::pi / frequency;
            const double got = scaled.frequencies()[i];
            CAPTURE(i);
            if (wavelength < 8192 / 4.0) {
                ++kept;
                CHECK(got == frequency);
            } else if (wavelength > 8192 / 1.0) {
                ++divided;
                CHECK(got == frequency / factor);
            } else {
                ++between;
                const double smooth = (8192 / wavelength - 1) / (4 - 1);
                CHECK(got == doctest::Approx((1 - smooth) * frequency / factor + smooth * frequency).epsilon(1e-14));
            }
            if (i > 0) CHECK(got < scaled.frequencies()[i - 1]);
        }
        CHECK(kept == 29);
        CHECK(between == 6);
        CHECK(divided == 29);
    }
}

TEST_CASE("rope table: angles are those of float64, at any position") {
    RopeParameters p;
    p.channels = 128;
    p.theta = 1e6;
    const Rope rope(p);
    const std::int32_t positions[] = {0, 1, 4095, 40959, 131071, 1048575};
    const RopeTable table = rope.table(positions);
    for (std::size_t s = 0; s < std::size(positions); ++s)
        for (std::size_t i = 0; i < 64; ++i) {
            const long double angle =
                static_cast<long double>(positions[s]) * std::pow(1e6L, -static_cast<long double>(i) / 64);
            const float cosine = table(seq(s), turn(0), pair(i)), sine = table(seq(s), turn(1), pair(i));
            // half a unit of the last place of a float, and what float64 leaves of a large angle
            const double bound = 0x1p-25 + 4e-16 * static_cast<double>(angle);
            CHECK(std::abs(static_cast<double>(cosine) - static_cast<double>(std::cos(angle))) <= bound);
            CHECK(std::abs(static_cast<double>(sine) - static_cast<double>(std::sin(angle))) <= bound);
        }
}

TEST_CASE("rope table: YaRN's amplitude") {
    RopeParameters p;
    p.channels = 8;
    p.scaling = {.kind = RopeScaling::Kind::yarn, .factor = 4, .originalContext = 1024};
    CHECK(Rope(p).amplitude() == doctest::Approx(0.1 * std::log(4.0) + 1));
    p.scaling.attentionFactor = 1;
    CHECK(Rope(p).amplitude() == 1);
    CHECK(Rope(p).table(0, 1)(seq(0), turn(0), pair(3)) == 1);
    p.scaling.attentionFactor = 0;
    p.scaling.factor = 1;
    CHECK(Rope(p).amplitude() == 1);
    p.scaling.kind = RopeScaling::Kind::none;
    CHECK(Rope(p).amplitude() == 1);
}
