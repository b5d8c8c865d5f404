// Makes rope_scaling.json: cosines and sines of rotary position embedding as ggml computes them, with each way of
// scaling the frequencies. Not part of the build. With llama.cpp built in $LLAMA:
//   g++ -I $LLAMA/ggml/include make_rope_scaling.cpp -L $LLAMA/build/bin -lggml -lggml-cpu -lggml-base -o make
//   ./make > rope_scaling.json
// Each pair of channels holds (1, 0), which turns into (cosine, sine). ggml works out its angles in float32, by
// repeated multiplication, so the values are good to about 1e-6 times the position.
#include <cstdio>
#include <cstring>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

namespace {

struct Case {
    const char* name;
    int channels;
    float theta, factor;
    bool yarn;
    int originalContext;
    float betaFast, betaSlow;
    std::vector<float> frequencyFactors;
};

void print(const Case& c, bool last) {
    const std::vector<int> positions = {0, 1, 7, 100};
    const int count = static_cast<int>(positions.size());
    ggml_context* context = ggml_init({16 << 20, nullptr, false});
    ggml_tensor* x = ggml_new_tensor_3d(context, GGML_TYPE_F32, c.channels, 1, count);
    float* values = static_cast<float*>(x->data);
    for (int i = 0; i < c.channels * count; ++i) values[i] = i % c.channels < c.channels / 2 ? 1.0f : 0.0f;
    ggml_tensor* position = ggml_new_tensor_1d(context, GGML_TYPE_I32, count);
    std::memcpy(position->data, positions.data(), sizeof(int) * positions.size());
    ggml_tensor* factors = nullptr;
    if (!c.frequencyFactors.empty()) {
        factors = ggml_new_tensor_1d(context, GGML_TYPE_F32, c.channels / 2);
        std::memcpy(factors->data, c.frequencyFactors.data(), sizeof(float) * c.frequencyFactors.size());
    }
    ggml_tensor* out = ggml_rope_ext(context, x, position, factors, c.channels, GGML_ROPE_TYPE_NEOX, c.originalContext,
                                     c.theta, 1 / c.factor, c.yarn ? 1.0f : 0.0f, 1.0f, c.betaFast, c.betaSlow);
    ggml_cgraph* graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, out);
    ggml_graph_compute_with_ctx(context, graph, 1);
    std::printf("{\"name\": \"%s\", \"channels\": %d, \"theta\": %g, \"factor\": %g, \"yarn\": %s, ", c.name,
                c.channels, c.theta, c.factor, c.yarn ? "true" : "false");
    std::printf("\"originalContext\": %d, \"betaFast\": %g, \"betaSlow\": %g, \"frequencyFactors\": [",
                c.originalContext, c.betaFast, c.betaSlow);
    for (std::size_t i = 0; i < c.frequencyFactors.size(); ++i)
        std::printf("%s%g", i ? ", " : "", c.frequencyFactors[i]);
    std::printf("],\n \"positions\": [");
    for (int i = 0; i < count; ++i) std::printf("%s%d", i ? ", " : "", positions[i]);
    std::printf("],\n \"out\": [");
    const float* result = static_cast<const float*>(out->data);
    for (int i = 0; i < c.channels * count; ++i) std::printf("%s%.8g", i ? ", " : "", result[i]);
    std::printf("]}%s\n", last ? "" : ",");
    ggml_free(context);
}

}  // namespace

int main() {
    std::vector<float> factors;
    for (int i = 0; i < 16; ++i) factors.push_back(1.0f + 0.5f * static_cast<float>(i));
    const Case cases[] = {
        {"none", 32, 10000, 1, false, 0, 32, 1, {}},
        {"linear by 4", 32, 10000, 4, false, 0, 32, 1, {}},
        {"yarn by 4, Qwen3", 128, 1000000, 4, true, 32768, 32, 1, {}},
        {"yarn by 16, Llama 2", 64, 10000, 16, true, 4096, 32, 1, {}},
        {"yarn by 2.5, other turns", 64, 10000, 2.5, true, 2048, 16, 2, {}},
        {"frequency factors", 32, 500000, 1, false, 0, 32, 1, factors},
        {"frequency factors and linear by 2", 32, 500000, 2, false, 0, 32, 1, factors},
    };
    const std::size_t count = sizeof cases / sizeof *cases;
    std::printf(
        "{\"about\": \"cosines (first half) and sines of a row of pairs, by ggml; make_rope_scaling.cpp\",\n\"cases\": "
        "[\n");
    for (std::size_t i = 0; i < count; ++i) print(cases[i], i + 1 == count);
    std::printf("]}\n");
}
