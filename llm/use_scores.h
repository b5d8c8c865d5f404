// Which of many things used again and again deserve a place most: recency and frequency in one number.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace axial::llm {

// The combined recency and frequency of Lee et al. 2001 ("LRFU: A Spectrum of Policies that Subsumes the Least Recently
// Used and Least Frequently Used Policies", IEEE Transactions on Computers 50(12)): a use counts 1 at first and half
// of that `halfLife` rounds later, and an item's score is what all its uses count,
//     score = sum over uses u of 2^-((now - time of u) / halfLife).
// A long half-life ranks by frequency, a short one by the last use. Items come in groups (a layer's experts), and time
// is counted in rounds of the item's own group: layers take turns, so one clock for all would find those of the layer
// that comes next always the oldest.
class UseScores {
  public:
    // Groups of so many items each. Items are numbered from 0 on, one group after the other.
    UseScores(const std::vector<std::size_t>& groups, double halfLife);

    // The group is visited once more: a round of it begins.
    void beginRound(std::size_t group);
    // An item is used in the round that its group is in.
    void use(std::size_t item);
    // The same as `count` uses (not below 0) in the round that its group is in.
    void use(std::size_t item, double count);

    // The binary logarithm of the score; minus infinity for what was never used.
    double logScore(std::size_t item) const;
    // Whether `a` should make room before `b`: it has the lower score; of equal ones, its group was visited later, so
    // that it is longer until its next visit; of these, the lower number.
    bool lessWorth(std::size_t a, std::size_t b) const;

  private:
    struct Item {
        std::uint32_t group = 0;
        std::uint64_t round = 0;  // in which logScore was right
        double logScore;
    };
    struct Group {
        std::uint64_t round = 0, visited = 0;  // rounds; the place of the last one among all groups' rounds
    };
    double perRound_;
    std::uint64_t visits_ = 0;
    std::vector<Group> groups_;
    std::vector<Item> items_;
};

}  // namespace axial::llm
