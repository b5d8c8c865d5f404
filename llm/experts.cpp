#include "axial/llm/experts.h"

#include <boost/hana/adapt_struct.hpp>

#include "axial/llm/record_axes.h"

namespace axial::llm {
namespace {

// How the experts' tensors are read, all in one and each by itself.
struct TogetherAxes {
    Weight<expert, ff, embed> ffn_gate_exps, ffn_up_exps;
    Weight<expert, embed, ff> ffn_down_exps;
};
struct SingleAxes {
    Weight<ff, embed> ffn_gate_exps, ffn_up_exps;
    Weight<embed, ff> ffn_down_exps;
};

}  // namespace
}  // namespace axial::llm

BOOST_HANA_ADAPT_STRUCT(axial::llm::TogetherAxes, ffn_gate_exps, ffn_up_exps, ffn_down_exps);
BOOST_HANA_ADAPT_STRUCT(axial::llm::SingleAxes, ffn_gate_exps, ffn_up_exps, ffn_down_exps);

namespace axial::llm {
namespace {

template <auto... A>
Weight<A...> weightOf(const StoredTensor& stored) {
    Extents extent{};
    std::copy(stored.extent.begin(), stored.extent.end(), extent.begin());
    return Weight<A...>(stored.data, stored.format, extent, stored.mapping, stored.name, stored.origin);
}

// One of the three matrices of all experts. A: its axes.
template <auto... A>
std::vector<StoredTensor> matrices(const std::string& name, WeightSource& source, const AxisSizes& sizes) {
    std::vector<StoredTensor> each(sizes.of(expert.name));
    const std::string own = name + ".0.weight";
    if (source.find(own)) {
        for (std::size_t i = 0; i < each.size(); ++i) {
            each[i] = source.require(name + "." + std::to_string(i) + ".weight");
            source.check(each[i], detail::wantedExtents<A...>(sizes));
            each[i].extent = {sizes.of(A.name)...};
        }
        return each;
    }
    const StoredTensor& all = source.require(name + ".weight");
    source.check(all, detail::wantedExtents<expert, A...>(sizes));
    for (std::size_t i = 0; i < each.size(); ++i) {
        each[i] = all;
        each[i].extent = {sizes.of(A.name)...};
        each[i].bytes = all.bytes / each.size();
        each[i].data = all.data + i * each[i].bytes;
    }
    return each;
}

}  // namespace

AxisSizes expertSizes(const Hyperparameters& h) {
    return {{expert.name, h.experts.count}, {ff.name, h.experts.ff}, {embed.name, h.embed}};
}

std::vector<StoredExpert> storedExperts(const std::string& prefix, WeightSource& source, const Hyperparameters& h) {
    const AxisSizes sizes = expertSizes(h);
    auto gate = matrices<ff, embed>(prefix + "ffn_gate_exps", source, sizes);
    auto up = matrices<ff, embed>(prefix + "ffn_up_exps", source, sizes);
    auto down = matrices<embed, ff>(prefix + "ffn_down_exps", source, sizes);
    std::vector<StoredExpert> experts;
    for (std::size_t i = 0; i < gate.size(); ++i)
        experts.push_back({std::move(gate[i]), std::move(up[i]), std::move(down[i])});
    return experts;
}

std::string axesOfExperts(std::string_view tensor, const Hyperparameters& h) {
    const AxisSizes sizes = expertSizes(h);
    if (const std::string together = axesOfRecord<TogetherAxes>(tensor, sizes); !together.empty()) return together;
    const std::size_t dot = tensor.find('.'), second = tensor.find('.', dot + 1);
    if (second == tensor.npos) return {};
    return axesOfRecord<SingleAxes>(std::string(tensor.substr(0, dot)).append(tensor.substr(second)), sizes);
}

bool isOfExperts(std::string_view tensor) { return tensor.find("_exps.") != tensor.npos; }

ResidentExpert::ResidentExpert(const StoredExpert& stored)
    : gate(weightOf<ff, embed>(stored.gate)),
      up(weightOf<ff, embed>(stored.up)),
      down(weightOf<embed, ff>(stored.down)) {}

ResidentExperts::ResidentExperts(const std::vector<StoredExpert>& stored) : weights_(stored.begin(), stored.end()) {
    for (const ResidentExpert& w : weights_) experts_.push_back({w.gate, w.up, w.down});
}

void ResidentExperts::forEach(std::span<const std::int32_t> wanted, const Use& use) const {
    std::vector<Given> given;
    for (const std::int32_t e : wanted) given.push_back({e, &experts_[static_cast<std::size_t>(e)]});
    use(given);
}

}  // namespace axial::llm
