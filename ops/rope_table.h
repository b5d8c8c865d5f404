// The angles of rotary position embedding (Su et al. 2021, "RoFormer"): which frequencies, scaled how for contexts
// longer than the trained one, and the table of cosines and sines that ropeHalf and its kin read.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "axial/ops/axes.h"
#include "axial/tensor/tensor.h"

namespace axial {

// Cosine (turn 0) and sine (turn 1) of the angle of each pair of channels at each position.
using RopeTable = Tensor<float, axes::seq, axes::turn, axes::pair>;

// How the frequencies are changed for a longer context.
struct RopeScaling {
    enum class Kind {
        none,
        linear,  // every frequency / factor (Chen et al. 2023, "Extending Context Window ... via Position
                 // Interpolation")
        yarn,    // Peng et al. 2023, "YaRN": pairs that turn more than betaFast times within the original context keep
                 // their frequency, those below betaSlow turns have it / factor, a straight line of weights between
        llama3,  // the Llama 3.1 release: wavelengths under originalContext / highFrequencyFactor keep their frequency,
                 // those over originalContext / lowFrequencyFactor have it / factor, smooth between
    };
    Kind kind = Kind::none;
    double factor = 1;               // how many times longer the context is
    double originalContext = 0;      // yarn, llama3: the trained context, in positions
    double betaFast = 32;            // yarn: in turns
    double betaSlow = 1;             // yarn: in turns
    double attentionFactor = 0;      // yarn: cosines and sines are multiplied by it; 0: 0.1 ln(factor) + 1
    double lowFrequencyFactor = 1;   // llama3
    double highFrequencyFactor = 4;  // llama3
};

struct RopeParameters {
    std::size_t channels = 0;  // how many channels of a head turn (all, or the first ones: partial rotation); even
    double theta = 10000;      // the base: pair i of n channels turns by theta^(-2 i / n) a position
    RopeScaling scaling;
    std::vector<float> frequencyFactors;  // if given, one a pair: its frequency is divided by it, before the scaling
};

// Makes tables. The frequencies are worked out once, in float64.
class Rope {
  public:
    // Throws ValueError for an odd or zero number of channels, a theta or a factor that is not positive and finite, a
    // scaling without the original context it needs, or a wrong number of frequency factors.
    explicit Rope(const RopeParameters& parameters);

    // Radians a position, one a pair.
    const std::vector<double>& frequencies() const { return frequencies_; }
    // What cosines and sines are multiplied by; 1 but for YaRN.
    double amplitude() const { return amplitude_; }

    // Angles of the given positions, in any order. position * frequency, cosine and sine are computed in float64 for
    // each position by itself, then rounded: no error grows with the position.
    RopeTable table(std::span<const std::int32_t> positions) const;
    // Angles of `count` positions from `first` on.
    RopeTable table(std::size_t first, std::size_t count) const;

  private:
    void fill(float* cosine, float* sine, double position) const;
    std::vector<double> frequencies_;
    double amplitude_ = 1;
};

}  // namespace axial
