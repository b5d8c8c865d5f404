// Recency and frequency in one number, against the sum that defines it.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

#include "axial/llm/use_scores.h"
#include "axial/tensor/error.h"

using namespace axial;
using namespace axial::llm;

namespace {

// The definition: all uses are remembered.
struct Remembered {
    std::vector<std::size_t> groupOf;
    std::vector<std::vector<double>> uses;
    std::vector<double> round, visited;
    double halfLife, visits = 0;

    double score(std::size_t item) const {
        double sum = 0;
        for (const double at : uses[item]) sum += std::pow(2.0, -(round[groupOf[item]] - at) / halfLife);
        return sum;
    }
};

}  // namespace

TEST_CASE("use scores are what the definition says, in any history") {
    CHECK(rc::check("as summed up over all uses", [] {
        const std::vector<std::size_t> groups =
            *rc::gen::container<std::vector<std::size_t>>(3, rc::gen::inRange<std::size_t>(0, 5));
        const double halfLife = *rc::gen::element(0.25, 1.0, 3.0, 64.0);
        UseScores scores(groups, halfLife);
        Remembered plain{{}, {}, std::vector<double>(3), std::vector<double>(3), halfLife};
        for (std::size_t g = 0; g < 3; ++g) plain.groupOf.insert(plain.groupOf.end(), groups[g], g);
        plain.uses.resize(plain.groupOf.size());
        const std::size_t items = plain.groupOf.size();
        for (const std::size_t step :
             *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 40))) {
            if (step < 3 || items == 0) {
                scores.beginRound(step % 3);
                plain.round[step % 3] += 1;
                plain.visited[step % 3] = ++plain.visits;
            } else {
                scores.use(step % items);
                plain.uses[step % items].push_back(plain.round[plain.groupOf[step % items]]);
            }
        }
        for (std::size_t a = 0; a < items; ++a) {
            const double wanted = plain.score(a);
            if (wanted == 0)
                RC_ASSERT(std::isinf(scores.logScore(a)));
            else
                RC_ASSERT(std::abs(scores.logScore(a) - std::log2(wanted)) < 1e-9);
            for (std::size_t b = 0; b < items; ++b) {
                // An order, and that of the scores where they differ by more than rounding.
                RC_ASSERT(scores.lessWorth(a, b) + scores.lessWorth(b, a) == (a != b));
                if (wanted < plain.score(b) * (1 - 1e-9)) RC_ASSERT(scores.lessWorth(a, b));
            }
        }
    }));
}

TEST_CASE("a long half-life ranks by frequency, a short one by the last use") {
    for (const bool recent : {false, true}) {
        UseScores scores({2}, recent ? 0.01 : 1e9);
        for (int i = 0; i < 5; ++i) {
            scores.beginRound(0);
            scores.use(0);
        }
        scores.beginRound(0);
        scores.use(1);
        CHECK(scores.lessWorth(0, 1) == recent);
    }
}

TEST_CASE("of equal scores, what is wanted again last makes room first") {
    UseScores scores({2, 2, 2}, 8);
    for (const std::size_t layer : {0u, 1u, 2u}) {
        scores.beginRound(layer);
        scores.use(2 * layer);
        scores.use(2 * layer + 1);
    }
    CHECK(scores.lessWorth(4, 0));  // layer 2 was visited last, so layer 0 comes next
    CHECK(scores.lessWorth(2, 0));
    CHECK(scores.lessWorth(4, 2));
    CHECK(scores.lessWorth(0, 1));  // the lower number
}

TEST_CASE("many rounds later, and after many uses, scores are still numbers in their order") {
    UseScores scores({2}, 0.5);
    for (int i = 0; i < 100000; ++i) {
        scores.beginRound(0);
        scores.use(0);
    }
    CHECK(std::abs(scores.logScore(0) - std::log2(4.0 / 3)) < 1e-9);  // 1 + 1/4 + 1/16 + ...
    scores.use(1, 1e300);
    CHECK(scores.lessWorth(0, 1));
    for (int i = 0; i < 100000; ++i) scores.beginRound(0);
    CHECK(std::abs(scores.logScore(0) - (std::log2(4.0 / 3) - 200000)) < 1e-6);
    CHECK_THROWS_AS(UseScores({1}, 0), ValueError);
}
