// A decoder family from its record of a block's weights and its block: everything else is the same.
#pragma once
#include "axial/llm/bind.h"
#include "axial/llm/decoder.h"

namespace axial::llm {

// "blk.3.": how the names of a block's tensors begin.
inline std::string blockPrefix(std::size_t index) { return "blk." + std::to_string(index) + "."; }

// A block's weights, where its record is all there is to bind.
template <class Layer>
void bindLayer(Layer& layer, std::size_t index, WeightSource& source, const Hyperparameters& h) {
    bindRecord(layer, blockPrefix(index), source, axisSizes(h));
}

// block(Stream&&, const Layer&, index, Step&, epsilon) runs a block, of which bind(Layer&, index, WeightSource&,
// const Hyperparameters&) fills the weights.
template <class Layer, auto block, auto bind = bindLayer<Layer>>
class Family final : public Model {
  public:
    Family(const Hyperparameters& hyperparameters, WeightSource& source)
        : hyperparameters_(hyperparameters),
          trunk_(bindTrunk(hyperparameters_, source)),
          rope_(ropeOf(hyperparameters_, trunk_)),
          layers_(hyperparameters.layers) {
        for (std::size_t i = 0; i < layers_.size(); ++i) bind(layers_[i], i, source, hyperparameters_);
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
