#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "axial/ops/largest.h"
#include "axial/ops/reduce.h"
#include "axial/ops/reduce_plain.h"
#include "axial/ops/softmax.h"
#include "axial/ops/structure.h"
#include "axial/tensor/error.h"
#include "ops/each_target.h"
#include "ops/samples.h"
#include "oracle.h"

using namespace axial;
using namespace axial::axes;

namespace {

constexpr Axis<"vocab"> vocab;
constexpr float infinity = std::numeric_limits<float>::infinity();
const float notANumber = std::nanf("");

std::string errorOf(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

const std::size_t lengths[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 65, 130, 511, 512, 513, 1500};

}  // namespace

TEST_CASE("softmax: reference cases, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/softmax.json");
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        std::vector<float> values;
        for (const auto& v : c["x"]) values.push_back(v.is_null() ? -infinity : v.get<float>());
        const auto x = tensor<float>(std::span<const float>(values), vocab(values.size()));
        forEachTarget([&](const char*) {
            CHECK(largestDifference(softmax(x, vocab), c["out"].get<std::vector<double>>()) < 1e-6);
        });
    }
}

TEST_CASE("softmax: every length against the plain definition, any axis, edge values, on every instruction set") {
    forEachTarget([&](const char*) {
        for (const std::size_t n : lengths) {
            CAPTURE(n);
            const auto x = randomTensor(1, seq(2), vocab(n));
            const auto out = softmax(x, vocab);
            std::vector<float> want(n);
            plain::softmax(want.data(), x.data() + n, n);
            CHECK(largestDifference(copy(out(seq(1))), want) < 1e-6);
            CHECK(sameBits(softmax(copy(x(seq(1))), vocab), copy(out(seq(1)))));
            const auto columns = softmax(copy(x.as(vocab, seq)), vocab);  // rows lie apart
            CHECK(sameBits(copy(columns.as(seq, vocab)), out));
        }
        const auto hidden = softmax(tensor<float>({-infinity, -infinity, -infinity}, vocab(3)), vocab);
        CHECK(largestMagnitude(hidden.values()) == 0);
        for (const float bad : {notANumber, infinity}) {
            const auto row = softmax(tensor<float>({-infinity, bad, -infinity}, vocab(3)), vocab);
            for (const float v : row.values()) CHECK(std::isnan(v));
            const auto wide = softmax(tensor<float>({1, 2, bad}, vocab(3)), vocab);
            for (const float v : wide.values()) CHECK(std::isnan(v));
        }
    });
    auto x = randomTensor(2, seq(3), vocab(9));
    const auto want = softmax(x, vocab);
    const float* address = x.data();
    x = softmax(std::move(x), vocab);
    CHECK(x.data() == address);
    CHECK(sameBits(x, want));
    CHECK(softmax(zeros<float>(seq(0), vocab(3)), vocab).size() == 0);
    CHECK(softmax(zeros<float>(seq(3), vocab(0)), vocab).size() == 0);
}

TEST_CASE("sum, mean, max: every length against the plain definitions, on every instruction set") {
    forEachTarget([&](const char*) {
        for (const std::size_t n : lengths) {
            CAPTURE(n);
            const auto x = randomTensor(3, head(2), vocab(n), seq(3));
            const auto total = sum(x, vocab), average = mean(x, vocab), top = max(x, vocab);  // [head, seq]
            for (std::size_t h = 0; h < 2; ++h)
                for (std::size_t s = 0; s < 3; ++s) {
                    const auto row = copy(x(head(h), seq(s)));
                    double size = 0;
                    for (const float v : row.values()) size += std::abs(static_cast<double>(v));
                    const double want = plain::sum(row.data(), n);
                    CHECK(std::abs(static_cast<double>(total(head(h), seq(s))) - want) <= 1e-6 * size);
                    CHECK(std::abs(static_cast<double>(average(head(h), seq(s))) - want / static_cast<double>(n)) <=
                          1e-6 * size / static_cast<double>(n));
                    CHECK(top(head(h), seq(s)) == plain::max(row.data(), n));
                }
            auto spoilt = randomTensor(4, vocab(n));
            for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
                const float before = spoilt(vocab(at));
                spoilt(vocab(at)) = notANumber;
                CHECK(std::isnan(max(spoilt, vocab)()));
                spoilt(vocab(at)) = before;
            }
        }
        CHECK(max(tensor<float>({-infinity, -infinity}, vocab(2)), vocab)() == -infinity);
    });
    // a million values of one size: floats added one by one would be off in the third digit
    auto ones = uninitialized<float>(vocab(1000000));
    for (float& v : ones.values()) v = 0.1f;
    CHECK(std::abs(sum(ones, vocab)() - 1e6f * 0.1f) < 0.1f);
    CHECK(sum(zeros<float>(seq(2), vocab(0)), vocab)(seq(1)) == 0);
    CHECK(sum(zeros<float>(seq(0), vocab(2)), vocab).size() == 0);
    CHECK(errorOf([] { (void)mean(zeros<float>(vocab(0)), vocab); }) == "mean: axis vocab has no positions");
    CHECK(errorOf([] { (void)max(zeros<float>(vocab(0)), vocab); }) == "max: axis vocab has no positions");
}

TEST_CASE("argmax: every length and every place against the plain definition, on every instruction set") {
    forEachTarget([&](const char*) {
        for (const std::size_t n : lengths) {
            CAPTURE(n);
            for (std::size_t place = 0; place < n; place += 1 + n / 40) {
                auto x = randomTensor(5, seq(2), vocab(n));
                x(seq(0), vocab(place)) = 100;
                x(seq(1), vocab(place)) = x(seq(1), vocab(n - 1)) = 50;  // a tie
                const auto at = argmax(x, vocab);
                CHECK(at(seq(0)) == static_cast<int>(place));
                CHECK(at(seq(1)) == static_cast<int>(plain::argmax(x.data() + n, n)));
                CHECK(at(seq(1)) == static_cast<int>(place));
            }
        }
        CHECK(argmax(tensor<float>({-infinity, -infinity}, vocab(2)), vocab)() == 0);
        CHECK(argmax(tensor<float>({1, 3, 2, 3}, vocab(2), seq(2)), vocab)(seq(1)) == 0);
    });
    CHECK(errorOf([] {
              (void)argmax(tensor<float>({1, 2, 3, notANumber}, seq(2), vocab(2)), vocab);
          }) == "argmax: the values at seq=1 contain NaN");
    CHECK(errorOf([] { (void)argmax(zeros<float>(vocab(0)), vocab); }) == "argmax: axis vocab has no positions");
}

TEST_CASE("topK: every k against the plain definition, with ties, on every instruction set") {
    forEachTarget([&](const char*) {
        for (const std::size_t n : lengths) {
            CAPTURE(n);
            auto x = randomTensor(6, vocab(n), seq(2));
            for (float& v : x.values()) v = std::round(v * 4) / 4;  // many ties
            for (const std::size_t k :
                 {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}, std::size_t{65}, n}) {
                if (k > n) continue;
                CAPTURE(k);
                const auto best = topK(x, vocab, slot, k);  // [slot, seq]
                for (std::size_t s = 0; s < 2; ++s) {
                    const auto row = copy(x(seq(s)));
                    std::vector<std::int32_t> want(k);
                    plain::topK(want.data(), row.data(), n, k);
                    bool same = true;
                    for (std::size_t i = 0; i < k; ++i) {
                        same = same && best.index(slot(i), seq(s)) == want[i];
                        same = same && best.value(slot(i), seq(s)) == row.values()[static_cast<std::size_t>(want[i])];
                    }
                    CHECK(same);
                }
            }
        }
    });
    const auto x = tensor<float>({1, 2, 3}, vocab(3));
    CHECK(errorOf([&] { (void)topK(x, vocab, slot, 0); }) ==
          "topK: k is 0, but axis vocab has 3 positions to choose from");
    CHECK(errorOf([&] { (void)topK(x, vocab, slot, 4); }) ==
          "topK: k is 4, but axis vocab has 3 positions to choose from");
    CHECK(errorOf([&] {
              (void)topK(tensor<float>({1, notANumber}, vocab(2)), vocab, slot, 1);
          }) == "topK: the values at its only row contain NaN");
}

TEST_CASE("routerTopK: reference cases, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/routerTopK.json");
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        const auto values = c["logits"].get<std::vector<float>>();
        const auto logits = tensor<float>(std::span<const float>(values), seq(1), expert(values.size()));
        const auto k = c["k"].get<std::size_t>();
        forEachTarget([&](const char*) {
            const auto plainly = routerTopK(logits, expert, k, false), normalised = routerTopK(logits, expert, k, true);
            for (std::size_t i = 0; i < k; ++i) {
                CHECK(plainly.expert(seq(0), slot(i)) == c["selected"][i].get<int>());
                CHECK(normalised.expert(seq(0), slot(i)) == c["selected"][i].get<int>());
            }
            CHECK(largestDifference(plainly.weight, c["weights"].get<std::vector<double>>()) < 1e-6);
            CHECK(largestDifference(normalised.weight, c["normalised"].get<std::vector<double>>()) < 1e-6);
        });
    }
}

TEST_CASE("routerTopK: many rows against the plain definition; errors name the row") {
    auto logits = randomTensor(7, seq(6), expert(60));
    forEachTarget([&](const char*) {
        for (const bool normalise : {true, false}) {
            const auto routing = routerTopK(logits, expert, 8, normalise);
            for (std::size_t s = 0; s < 6; ++s) {
                std::vector<std::int32_t> chosen(8);
                std::vector<float> weight(8);
                plain::routerTopK(chosen.data(), weight.data(), logits.data() + 60 * s, 60, 8, normalise);
                for (std::size_t i = 0; i < 8; ++i) CHECK(routing.expert(seq(s), slot(i)) == chosen[i]);
                CHECK(largestDifference(copy(routing.weight(seq(s))), weight) < 1e-6);
            }
        }
    });
    CHECK(routerTopK(zeros<float>(seq(0), expert(4)), expert, 2, true).weight.size() == 0);
    CHECK(errorOf([&] { (void)routerTopK(logits, expert, 0, true); }) ==
          "routerTopK: k is 0, but axis expert has 60 positions to choose from");
    CHECK(errorOf([&] { (void)routerTopK(logits, expert, 61, true); }) ==
          "routerTopK: k is 61, but axis expert has 60 positions to choose from");
    const float before = logits(seq(4), expert(3));
    logits(seq(4), expert(3)) = notANumber;
    CHECK(errorOf([&] { (void)routerTopK(logits, expert, 2, true); }) == "routerTopK: the values at seq=4 contain NaN");
    logits(seq(4), expert(3)) = infinity;
    CHECK(errorOf([&] { (void)routerTopK(logits, expert, 2, true); }) ==
          "routerTopK: the values at seq=4 contain infinity");
    logits(seq(4), expert(3)) = before;
    for (std::size_t e = 0; e < 60; ++e) logits(seq(5), expert(e)) = -infinity;
    CHECK(errorOf([&] { (void)routerTopK(logits, expert, 2, true); }) ==
          "routerTopK: the values at seq=5 are all minus infinity");
}

TEST_CASE("routerTopK: the public reports MOE-01 and MOE-03") {
    if (!oracle::present()) return;
    std::ifstream in(oracle::path("reports.jsonl"));
    std::size_t cases = 0;
    for (std::string line; std::getline(in, line);) {
        const auto report = nlohmann::json::parse(line);
        if (report.at("id") != "MOE-01" && report.at("id") != "MOE-03") continue;
        CAPTURE(report.at("id").get<std::string>());
        for (std::size_t c = 0; c < report["input"]["cases"].size(); ++c, ++cases) {
            const auto values = report["input"]["cases"][c]["logits"].get<std::vector<float>>();
            const auto k = report["input"]["cases"][c]["k"].get<std::size_t>();
            const auto& want = report["expected"]["results"][c];
            // Alone and among others: the choice is the same.
            auto logits = uninitialized<float>(seq(40), expert(values.size()));
            for (std::size_t s = 0; s < 40; ++s) std::copy(values.begin(), values.end(), logits.edit()(seq(s)).data());
            for (const std::size_t s : {0, 39}) {
                const auto some = logits.narrow(seq, s, s == 0 ? 40 : 1);
                const auto normalised = routerTopK(some, expert, k, true), plainly = routerTopK(some, expert, k, false);
                for (std::size_t i = 0; i < k; ++i) {
                    CHECK(normalised.expert(seq(0), slot(i)) == want["experts"][i].get<int>());
                    CHECK(std::abs(normalised.weight(seq(0), slot(i)) - want["weights_norm_true"][i].get<double>()) <
                          1e-6);
                    CHECK(std::abs(plainly.weight(seq(0), slot(i)) - want["weights_norm_false"][i].get<double>()) <
                          1e-6);
                }
            }
        }
    }
    CHECK(cases == 7);
}

TEST_CASE("routerTopK: top-p against the plain definition; at 1 no bit changes") {
    const auto logits = randomTensor(8, seq(50), expert(16));
    std::size_t dropped = 0;
    for (const bool normalise : {true, false}) {
        const auto all = routerTopK(logits, expert, 6, normalise), same = routerTopK(logits, expert, 6, normalise, 1.0);
        CHECK(sameBits(all.weight, same.weight));
        for (const double topP : {1e-9, 0.3, 0.7, 0.95}) {
            const auto some = routerTopK(logits, expert, 6, normalise, topP);
            for (std::size_t s = 0; s < 50; ++s) {
                std::vector<std::int32_t> chosen(6);
                std::vector<float> weight(6);
                plain::routerTopK(chosen.data(), weight.data(), logits.data() + 16 * s, 16, 6, normalise, topP);
                for (std::size_t i = 0; i < 6; ++i) CHECK(some.expert(seq(s), slot(i)) == chosen[i]);
                CHECK(chosen[0] >= 0);
                if (topP < 1e-6) CHECK(chosen[1] == -1);
                CHECK(largestDifference(copy(some.weight(seq(s))), weight) < 1e-6);
                dropped += static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), -1));
            }
        }
    }
    CHECK(dropped > 500);
    for (const double topP : {0.0, -1.0, 1.5, static_cast<double>(notANumber)})
        CHECK_THROWS_AS((void)routerTopK(logits, expert, 2, true, topP), ValueError);
}
