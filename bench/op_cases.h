// What can be measured: each op on each shape, with what one call has to read and to multiply.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "axial/bench/limits.h"
#include "axial/bench/memory.h"
#include "axial/bench/shapes.h"
#include "axial/ops/activations.h"

namespace axial::bench {

std::string_view nameOf(Activations);

// One op on one shape.
struct OpCase {
    std::string op;
    std::string layer;  // of dot and swigluDot: what the model calls the weights
    Format format;      // of the weights, of keys and values, or of the table; else F32
    std::vector<AxisExtent> axes;
    std::optional<Activations> activations;  // where it makes a difference
    bool cached;                             // the operands stay in the cache from call to call

    // Of the operands that a call reads from memory: weights, keys and values, the rows of a table, or what else is the
    // op's largest input. Not of those that another op has just left in the cache, nor of the result.
    double bytes;
    // Multiply-accumulates of a call (ops/work.h).
    double products;
    Arithmetic arithmetic;

    // The bytes of the memory that a call needs side by side.
    std::size_t operandBytes;
    // Makes what else a call needs, and returns the call.
    std::function<std::function<void()>(const Memory&)> prepare;

    // "dot/attn_q/Q4_K/seq:1/head:16/channel:128/embed:1024/int16"
    std::string name() const;
};

// Which of them.
struct Selection {
    std::vector<std::string> ops;  // of opNames(); none: all
    std::vector<Format> formats;   // none: all
    std::vector<std::size_t> seq;  // none: what each op is mostly called with
    std::vector<std::size_t> key;
    std::vector<Activations> activations = {Activations::int16};
    bool cached = false;
    // Where rows of the shapes are no whole blocks of a format: if true a ShapeError, else the case is left out.
    bool strict = false;
};

std::vector<std::string_view> opNames();
// Throws ShapeError where extents do not fit together (heads and kvHeads, more queries than keys, slots than experts).
std::vector<OpCase> opCases(const Shapes&, const Selection&);

// The families, which opCases adds up.
using Cases = std::vector<OpCase>;
void addLinearCases(Cases&, const Shapes&, const Selection&);
void addAttentionCases(Cases&, const Shapes&, const Selection&);
void addRowCases(Cases&, const Shapes&, const Selection&);  // norms, rotations, softmax
void addPointwiseCases(Cases&, const Shapes&, const Selection&);
void addChoiceCases(Cases&, const Shapes&, const Selection&);  // gather, argmax, topK, routerTopK

// seq as selected, or else these.
std::vector<std::size_t> seqOf(const Selection&, std::vector<std::size_t> usual);
bool wants(const Selection&, Format);
// Whether rows of so many values are whole blocks of a format; ShapeError if they are not and the selection is strict.
bool wholeBlocks(const std::string& op, Format, std::size_t row, const Selection&);

}  // namespace axial::bench
