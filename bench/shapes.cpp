#include "axial/bench/shapes.h"

namespace axial::bench {
namespace {

struct SizedAxis {
    std::string_view name;
    std::size_t Shapes::*extent;
};
constexpr SizedAxis sized[] = {{"embed", &Shapes::embed},      {"head", &Shapes::heads}, {"kvHead", &Shapes::kvHeads},
                               {"channel", &Shapes::channels}, {"ff", &Shapes::ff},      {"vocab", &Shapes::vocabulary},
                               {"expert", &Shapes::experts},   {"slot", &Shapes::chosen}};

}  // namespace

std::size_t sizeOf(std::span<const AxisExtent> axes) {
    std::size_t size = 1;
    for (const AxisExtent& axis : axes) size *= axis.extent;
    return size;
}

std::string textOf(std::span<const AxisExtent> axes) {
    std::string text;
    for (const auto& [name, extent] : axes) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(extent);
    return text;
}

std::vector<std::string_view> sizedAxes() {
    std::vector<std::string_view> names;
    for (const SizedAxis& axis : sized) names.push_back(axis.name);
    return names;
}

std::vector<AxisExtent> extentsOf(const Shapes& shapes) {
    std::vector<AxisExtent> list;
    for (const SizedAxis& axis : sized) list.push_back({std::string(axis.name), shapes.*axis.extent});
    return list;
}

Shapes qwen3Shapes(std::span<const Format> formats, std::span<const AxisExtent> extents) {
    Shapes s{.embed = 1024,
             .heads = 16,
             .kvHeads = 8,
             .channels = 128,
             .ff = 3072,
             .vocabulary = 151936,
             .experts = 128,
             .chosen = 8,
             .layers = {},
             .tables = {formats.begin(), formats.end()}};
    for (const AxisExtent& given : extents)
        for (const SizedAxis& axis : sized)
            if (given.name == axis.name) s.*axis.extent = given.extent;
    const AxisExtent embed{"embed", s.embed}, head{"head", s.heads}, kvHead{"kvHead", s.kvHeads},
        channel{"channel", s.channels}, ff{"ff", s.ff}, vocab{"vocab", s.vocabulary};
    for (const Format format : formats) {
        s.layers.push_back({"attn_q", format, {head, channel}, {embed}});
        s.layers.push_back({"attn_k", format, {kvHead, channel}, {embed}});  // and attn_v
        s.layers.push_back({"attn_output", format, {embed}, {head, channel}});
        s.layers.push_back({"ffn_gate", format, {ff}, {embed}, false, true});
        s.layers.push_back({"ffn_down", format, {embed}, {ff}});
        s.layers.push_back({"output", format, {vocab}, {embed}, true, false});
    }
    return s;
}

}  // namespace axial::bench
