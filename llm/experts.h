// The experts of a layer: which tensors of a file they are, and who has their matrices when the layer runs.
#pragma once
#include <string>
#include <vector>

#include "axial/llm/axes.h"
#include "axial/llm/stored_tensor.h"
#include "axial/llm/weight_source.h"
#include "axial/ops/mixture.h"

namespace axial::llm {

// One expert's matrices gate and up [ff, embed] and down [embed, ff], as the file stores them: each is a stretch of its
// mapping, and `bytes` long.
struct StoredExpert {
    StoredTensor gate, up, down;
};

// The extents of the axes of experts: their ff is not that of a block without experts.
AxisSizes expertSizes(const Hyperparameters&);
// Those of a block, whose tensors' names begin with `prefix` ("blk.3."). A GGUF file has all experts in one tensor,
// ffn_gate_exps.weight [expert, ff, embed]; of safetensors each has its own, ffn_gate_exps.7.weight [ff, embed]. Errors
// as bindRecord's.
std::vector<StoredExpert> storedExperts(const std::string& prefix, WeightSource&, const Hyperparameters&);
// "expert=32, ff=512, embed=1024" for ffn_gate_exps.weight, "ff=512, embed=1024" for ffn_gate_exps.7.weight; empty for
// a tensor that is none of them.
std::string axesOfExperts(std::string_view tensor, const Hyperparameters&);

// Whether a tensor is of experts: of those used for a token alone, a part of it is read.
bool isOfExperts(std::string_view tensor);

// What mixture() asks for an expert's matrices while a layer runs (axial::ExpertSource): gives them out of memory, of a
// mapping or of a cache.
using LayerExperts = ExpertSource<ff, embed>;

// An expert in memory that stays: the weights keep their mapping alive, and each has room for a second form of it
// (tensor/form_slot.h), so that experts that are read often get one and others do not.
struct ResidentExpert {
    Weight<ff, embed> gate, up;
    Weight<embed, ff> down;

    explicit ResidentExpert(const StoredExpert&);
};

// All experts are where the file is mapped; the system brings in what is touched, and drops it when memory is short.
class ResidentExperts final : public LayerExperts {
  public:
    explicit ResidentExperts(const std::vector<StoredExpert>&);
    std::size_t count() const override { return experts_.size(); }
    void forEach(std::span<const std::int32_t> wanted, const Use& use) const override;

  private:
    std::vector<ResidentExpert> weights_;
    std::vector<Expert<ff, embed>> experts_;
};

}  // namespace axial::llm
