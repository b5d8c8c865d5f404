// A decoder family from its record of a block's weights and its block: everything else is the same.
#pragma once
#include "axial/llm/bind.h"
#include "axial/llm/decoder.h"

namespace axial::llm {

// `Layer` is a record for bindRecord; block(Stream&&, const Layer&, index, Step&, epsilon) runs one of them.
template <class Layer, auto block>
class Family final : public Model {
  public:
    Family(const Hyperparameters& hyperparameters, WeightSource& source)
        : hyperparameters_(hyperparameters),
          trunk_(bindTrunk(hyperparameters_, source)),
          rope_(ropeOf(hyperparameters_, trunk_)),
          layers_(hyperparameters.layers) {
        const AxisSizes sizes = axisSizes(hyperparameters_);
        for (std::size_t i = 0; i < layers_.size(); ++i)
            bindRecord(layers_[i], "blk." + std::to_string(i) + ".", source, sizes);
    }

    const Hyperparameters& hyperparameters() const override { return hyperparameters_; }

    using Model::forward;
    Logits forward(std::span<const Continuation> conversations) const override {
        const auto run = [this](Stream&& x, std::size_t i, Step& step) {
            return block(std::move(x), layers_[i], i, step, hyperparameters_.normEpsilon);
        };
        return runDecoder(hyperparameters_, trunk_, rope_, run, conversations);
    }

  private:
    Hyperparameters hyperparameters_;
    Trunk trunk_;
    Rope rope_;
    std::vector<Layer> layers_;
};

}  // namespace axial::llm
