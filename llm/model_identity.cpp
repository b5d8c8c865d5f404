#include "axial/llm/model_identity.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "axial/llm/fnv1a.h"
#include "axial/llm/load.h"
#include "axial/llm/tokenizer.h"

namespace axial::llm {
namespace {

constexpr std::size_t wholeUpTo = 16384, stretches = 16, stretchBytes = 256;

void add(Fnv1a& hash, double number) { hash.addNumber(std::bit_cast<std::uint64_t>(number)); }
// With its length, so that the border between two texts counts.
void add(Fnv1a& hash, std::string_view text) { hash.addNumber(text.size()).add(text); }

void add(Fnv1a& hash, const Hyperparameters& h) {
    add(hash, h.architecture);
    for (const std::size_t n : {h.layers, h.embed, h.heads, h.kvHeads, h.channels, h.ff, h.vocabulary, h.ropeChannels})
        hash.addNumber(n);
    hash.addNumber(h.turnsByHalves).addNumber(static_cast<std::uint64_t>(h.ropeScaling.kind));
    const RopeScaling& s = h.ropeScaling;
    if (const ExpertParameters& e = h.experts; e.count != 0) {
        for (const std::size_t n : {e.count, e.used, e.ff, std::size_t{e.normalise}, e.every}) hash.addNumber(n);
        for (const std::size_t block : e.dense) hash.addNumber(block);
        add(hash, e.topP);
    }
    for (const double x : {static_cast<double>(h.normEpsilon), h.ropeTheta, s.factor, s.originalContext, s.betaFast,
                           s.betaSlow, s.attentionFactor, s.lowFrequencyFactor, s.highFrequencyFactor})
        add(hash, x);
}

void add(Fnv1a& hash, const TokenList& tokens) {
    hash.addNumber(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        add(hash, tokens.bytes(id));
        hash.addNumber(static_cast<std::uint64_t>(tokens.type(id)));
    }
}

void add(Fnv1a& hash, const StoredTensor& tensor) {
    add(hash, tensor.name);
    hash.addNumber(static_cast<std::uint64_t>(infoOf(tensor.format).ggufId)).addNumber(tensor.extent.size());
    for (const std::size_t extent : tensor.extent) hash.addNumber(extent);
    const std::span<const std::byte> bytes(tensor.data, tensor.bytes);
    if (bytes.size() <= wholeUpTo) {
        hash.add(bytes);
        return;
    }
    for (std::size_t i = 0; i < stretches; ++i)
        hash.add(bytes.subspan((bytes.size() - stretchBytes) / (stretches - 1) * i, stretchBytes));
    hash.add(bytes.last(stretchBytes));
}

}  // namespace

std::string ModelIdentity::text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(fingerprint));
    return name + " (fingerprint " + digits + ")";
}

ModelIdentity identityOf(const LoadedModel& loaded) {
    const Hyperparameters& h = loaded.model->hyperparameters();
    Fnv1a hash;
    add(hash, h);
    add(hash, loaded.tokenizer->vocabulary().tokens);
    std::vector<const StoredTensor*> tensors;
    for (const StoredTensor& tensor : loaded.file.tensors()) tensors.push_back(&tensor);
    std::ranges::sort(tensors, {}, &StoredTensor::name);
    hash.addNumber(tensors.size());
    for (const StoredTensor* tensor : tensors) add(hash, *tensor);
    const std::string file = loaded.file.path().filename().string();
    return {!h.name.empty() ? h.name : !file.empty() ? file : h.architecture, hash.value()};
}

}  // namespace axial::llm
