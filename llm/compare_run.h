// A forward pass beside saved values of the same: which is the first to depart, and how far?
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "axial/llm/compare_values.h"
#include "axial/llm/named_values.h"
#include "axial/llm/reference_values.h"

namespace axial::llm {

struct ComparedValue {
    std::string path;     // "3/attn_norm", "logits"
    std::size_t count;    // of numbers
    std::string axes;     // "[seq=7, embed=128]"
    std::string saved;    // what the reference calls it
    std::string extents;  // of the reference
    ValueDifference difference;
};

struct RunComparison {
    std::vector<ComparedValue> values;          // in the order of computation
    std::vector<std::string> notInRun;          // what was saved and is no value of the run
    std::vector<std::string> withoutReference;  // paths of values that nothing was saved of
    std::vector<std::string> unread;            // as in ReferenceValues

    // The first that departs or has other extents, or nullptr.
    const ComparedValue* firstDeparture() const;
};

// Runs a forward pass that hands out its values, as forwardNamed does, and compares each with the reference's. Throws
// what `run` throws.
RunComparison compareRun(const std::function<void(const NamedValues::Take&)>& run, const ReferenceValues& reference,
                         double tolerance);
// The same for tokens that go through the model from an empty cache of float32, in the arithmetic that is set
// (UseActivations).
RunComparison compareRun(const Model& model, std::span<const TokenId> tokens, const ReferenceValues& reference,
                         double tolerance);

// For people: the first departure, a table of all values, and what could not be compared.
std::string textOf(const RunComparison&);

}  // namespace axial::llm
