#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "axial/ops/norm.h"
#include "axial/ops/norm_rope_plain.h"
#include "axial/ops/rope.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "axial/tensor/half.h"
#include "axial/tensor/parallel.h"
#include "ops/each_target.h"
#include "ops/samples.h"
#include "oracle.h"

using namespace axial;
using namespace axial::axes;

namespace {

constexpr Axis<"embed"> embed;

std::vector<float> flat(const nlohmann::json& j) {
    if (j.is_number()) return {j.get<float>()};
    std::vector<float> all;
    for (const auto& part : j)
        for (const float v : flat(part)) all.push_back(v);
    return all;
}
std::vector<double> flatDoubles(const nlohmann::json& j) {
    if (j.is_number()) return {j.get<double>()};
    std::vector<double> all;
    for (const auto& part : j)
        for (const double v : flatDoubles(part)) all.push_back(v);
    return all;
}

std::string errorOf(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("rmsNormMul: reference cases and the published worked example, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/rmsNormMul.json");
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        const std::vector<float> values = flat(c["x"]), weights = flat(c["weight"]);
        const std::size_t n = weights.size(), rows = values.size() / n;
        const auto x = tensor<float>(std::span<const float>(values), seq(rows), embed(n));
        const auto weight = tensor<float>(std::span<const float>(weights), embed(n));
        const std::vector<double> want = flatDoubles(c["out"]);
        forEachTarget([&](const char*) {
            const auto out = rmsNormMul(x, weight, c["eps"].get<float>());
            CHECK(largestDifference(out, want) <= 1e-6 * largestMagnitude(want));
            if (c.contains("published"))
                CHECK(largestDifference(out, std::vector<double>{1.095, 0.438, 0.730, 0.986}) < 1.5e-3);
        });
    }
}

TEST_CASE("rmsNormMul: every length against the plain definition; rows do not see each other") {
    for (const std::size_t n : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 127, 512, 513, 1024, 5000}) {
        CAPTURE(n);
        const auto x = randomTensor(1, seq(3), embed(n));
        const auto weight = randomTensor(2, embed(n));
        forEachTarget([&](const char*) {
            const auto out = rmsNormMul(x, weight, 1e-6f);
            std::vector<float> want(n);
            for (std::size_t s = 0; s < 3; ++s) {
                plain::rmsNormMul(want.data(), x.data() + s * n, weight.data(), n, 1e-6f);
                const auto row = copy(out(seq(s)));
                CHECK(largestDifference(row, want) <= 1e-6 * largestMagnitude(want));
                CHECK(sameBits(rmsNormMul(x.narrow(seq, s, 1), weight, 1e-6f), row));
            }
        });
    }
}

TEST_CASE("rmsNormMul: any layout, lent buffers, stored weights, threads") {
    auto x = randomTensor(3, seq(5), head(6), channel(32));
    const auto weight = randomTensor(4, channel(32));
    const auto want = rmsNormMul(x, weight, 1e-5f);
    const auto first = rmsNormMul(copy(x.as(channel, seq, head)), weight, 1e-5f);  // [channel, seq, head]
    CHECK(sameBits(copy(first.as(seq, head, channel)), want));
    const auto view = rmsNormMul(x.as(seq, channel, head), weight, 1e-5f);
    CHECK(sameBits(copy(view.as(seq, head, channel)), want));

    std::vector<std::uint16_t> halves;
    for (const float w : weight.values()) halves.push_back(f32ToF16(w));
    const Weight<channel> stored(halves.data(), Format::f16, {32});
    CHECK(sameBits(rmsNormMul(x, stored, 1e-5f), rmsNormMul(x, copy(stored), 1e-5f)));

    const auto large = randomTensor(5, seq(300), embed(257));
    const auto scale = randomTensor(6, embed(257));
    ThreadTeam one(1), four(4);
    const auto with = [&](ThreadTeam& team) {
        UseTeam use(team);
        return rmsNormMul(large, scale, 1e-6f);
    };
    CHECK(sameBits(with(one), with(four)));

    const float* address = x.data();
    x = rmsNormMul(std::move(x), weight, 1e-5f);
    CHECK(x.data() == address);
    CHECK(sameBits(x, want));
    // the weight lies in the lent tensor
    auto square = randomTensor(7, seq(16), channel(16));
    const auto before = copy(square);
    const auto lent = rmsNormMul(std::move(square), square(seq(0)), 1e-5f);
    CHECK(sameBits(lent, rmsNormMul(before, before(seq(0)), 1e-5f)));

    auto kept = copy(before);
    CHECK(errorOf([&] { (void)rmsNormMul(std::move(kept), zeros<float>(channel(15)), 1e-5f); }) ==
          "rmsNormMul: axis channel is 16 on the left and 15 on the right");
    CHECK(sameBits(kept, before));
}

TEST_CASE("rope: reference cases up to position 40959, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/rope.json");
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        if (c.contains("dots")) {
            RopeParameters parameters;
            parameters.channels = c["q"].size();
            parameters.theta = c["theta"].get<double>();
            const Rope rope(parameters);
            const auto turned = [&](const nlohmann::json& values, std::size_t position) {
                const auto x = tensor<float>(std::span<const float>(flat(values)), seq(1), channel(values.size()));
                return ropeHalf(x, rope.table(position, 1));
            };
            for (const auto& d : c["dots"]) {
                const auto q = turned(c["q"], d["query_position"]), k = turned(c["k"], d["key_position"]);
                double dot = 0;
                for (std::size_t i = 0; i < c["q"].size(); ++i)
                    dot += static_cast<double>(q.values()[i]) * static_cast<double>(k.values()[i]);
                CHECK(std::abs(dot - d["dot"].get<double>()) < 1e-6);
            }
            continue;
        }
        const auto positions = c["positions"].get<std::vector<std::int32_t>>();
        const std::size_t heads = c["x"][0].size(), channels = c["x"][0][0].size();
        const auto x =
            tensor<float>(std::span<const float>(flat(c["x"])), seq(positions.size()), head(heads), channel(channels));
        RopeParameters parameters;
        parameters.channels = channels;
        parameters.theta = c["theta"].get<double>();
        const RopeTable table = Rope(parameters).table(positions);
        forEachTarget([&](const char*) {
            CHECK(largestDifference(ropeHalf(x, table), flatDoubles(c["half"])) < 1e-6);
            CHECK(largestDifference(ropeInterleaved(x, table), flatDoubles(c["interleaved"])) < 1e-6);
        });
    }
}

TEST_CASE("rope: every width and partial rotation against the plain definition, on every instruction set") {
    for (std::size_t pairs = 1; pairs <= 40; pairs += pairs < 20 ? 1 : 7) {
        for (const std::size_t rest : {0, 5}) {
            const std::size_t n = 2 * pairs + rest;
            CAPTURE(n);
            RopeParameters parameters;
            parameters.channels = 2 * pairs;
            const Rope rope(parameters);
            const auto x = randomTensor(8, head(2), seq(3), channel(n));  // seq is not outermost
            const RopeTable table = rope.table(100, 3);
            forEachTarget([&](const char*) {
                const auto half = ropeHalf(x, table), interleaved = ropeInterleaved(x, table);
                for (std::size_t s = 0; s < 3; ++s) {
                    std::vector<double> angle;
                    for (const double f : rope.frequencies()) angle.push_back(f * static_cast<double>(100 + s));
                    std::vector<float> want(n);
                    const float* row = &x.data()[(3 + s) * n];  // head 1
                    plain::ropeHalf(want.data(), row, angle.data(), pairs, n);
                    CHECK(largestDifference(copy(half(head(1), seq(s))), want) < 1e-6);
                    plain::ropeInterleaved(want.data(), row, angle.data(), pairs, n);
                    CHECK(largestDifference(copy(interleaved(head(1), seq(s))), want) < 1e-6);
                }
            });
        }
    }
}

TEST_CASE("rmsNormMulRopeHalf: the two ops in one pass, bit for bit, on every instruction set") {
    for (const std::size_t channels : {2, 10, 64, 96, 128}) {
        CAPTURE(channels);
        RopeParameters parameters;
        parameters.channels = channels > 10 ? channels - 32 : channels;
        parameters.theta = 1e6;
        const RopeTable table = Rope(parameters).table(7, 40);
        auto x = randomTensor(9, seq(40), head(8), channel(channels));
        const auto weight = randomTensor(10, channel(channels));
        forEachTarget([&](const char*) {
            const auto want = ropeHalf(rmsNormMul(x, weight, 1e-6f), table);
            CHECK(sameBits(rmsNormMulRopeHalf(x, weight, table, 1e-6f), want));
            const auto apart = rmsNormMulRopeHalf(x.as(channel, head, seq), weight, table, 1e-6f);
            CHECK(sameBits(copy(apart.as(seq, head, channel)), want));
            auto lent = copy(x);
            CHECK(sameBits(rmsNormMulRopeHalf(std::move(lent), weight, table, 1e-6f), want));
        });
    }
}

TEST_CASE("norms that are left out: x as it is, rotated where it is rotated, until the experiment is over") {
    RopeParameters parameters;
    parameters.channels = 16;
    const RopeTable table = Rope(parameters).table(5, 3);
    const auto x = randomTensor(9, seq(3), channel(16));
    const auto w = randomTensor(10, channel(16));
    const auto normed = rmsNormMul(x, w, 1e-6f);
    const auto turned = rmsNormMulRopeHalf(x, w, table, 1e-6f);
    {
        const LeaveOutNorms experiment;
        CHECK(sameBits(rmsNormMul(x, w, 1e-6f), copy(x)));
        CHECK(sameBits(rmsNormMul(copy(x), w, 1e-6f), copy(x)));
        CHECK(sameBits(rmsNormMulRopeHalf(x, w, table, 1e-6f), ropeHalf(x, table)));
        CHECK(errorOf([&] { (void)rmsNormMul(x, zeros<float>(channel(15)), 1e-6f); }) ==
              "rmsNormMul: axis channel is 16 on the left and 15 on the right");
    }
    CHECK(sameBits(rmsNormMul(x, w, 1e-6f), normed));
    CHECK(sameBits(rmsNormMulRopeHalf(x, w, table, 1e-6f), turned));
}

TEST_CASE("rope: a table of a few positions has the rows of a table of many") {
    RopeParameters parameters;
    parameters.channels = 64;
    const Rope rope(parameters);
    const RopeTable all = rope.table(0, 50);
    const RopeTable one = rope.table(49, 1);
    const std::int32_t asked[] = {49, 3};
    const RopeTable two = rope.table(asked);
    CHECK(sameBits(copy(all.narrow(seq, 49, 1)), one));
    CHECK(sameBits(copy(two.narrow(seq, 0, 1)), one));
    CHECK(sameBits(copy(two.narrow(seq, 1, 1)), copy(all.narrow(seq, 3, 1))));
}

TEST_CASE("rope, norm: errors and empty extents") {
    RopeParameters parameters;
    parameters.channels = 8;
    const RopeTable table = Rope(parameters).table(0, 3);
    CHECK(errorOf([&] { (void)ropeHalf(zeros<float>(seq(2), channel(8)), table); }) ==
          "ropeHalf: axis seq is 2 on the left and 3 on the right");
    CHECK(errorOf([&] { (void)ropeInterleaved(zeros<float>(seq(3), channel(6)), table); }) ==
          "ropeInterleaved: axis channel is 6, but the table turns 4 pairs of channels");
    CHECK(errorOf([&] {
              (void)rmsNormMulRopeHalf(zeros<float>(seq(3), channel(8)), zeros<float>(channel(9)), table, 0);
          }) == "rmsNormMulRopeHalf: axis channel is 8 on the left and 9 on the right");
    CHECK(ropeHalf(zeros<float>(seq(0), channel(8)), Rope(parameters).table(0, 0)).size() == 0);
    CHECK(rmsNormMul(zeros<float>(seq(0), channel(8)), zeros<float>(channel(8)), 1e-6f).size() == 0);
    CHECK(rmsNormMul(zeros<float>(seq(2), channel(0)), zeros<float>(channel(0)), 1e-6f).size() == 0);
    parameters.channels = 7;
    CHECK(errorOf([&] { Rope rope(parameters); }) == "rope: 7 channels cannot be rotated in pairs");
    parameters.channels = 8;
    parameters.frequencyFactors = {1, 2};
    CHECK(errorOf([&] { Rope rope(parameters); }) == "rope: 2 frequency factors for 4 pairs of channels");
    parameters.frequencyFactors.clear();
    parameters.scaling.kind = RopeScaling::Kind::llama3;
    CHECK(errorOf([&] { Rope rope(parameters); }).find("original context") != std::string::npos);
}
