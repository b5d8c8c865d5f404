#include "axial/ops/activation_forms.h"

#include <algorithm>
#include <cstring>

#include "axial/ops/activations.h"
#include "axial/ops/interleaved_kernels.h"
#include "axial/ops/linear_kernels.h"
#include "axial/ops/split_floats.h"
#include "axial/tensor/parallel.h"

namespace axial::erased {
namespace {

std::size_t planes() { return detail::activations == Activations::int16 ? 2 : 1; }

// f(row, where it goes) for rows [begin, end), `bytes` apart; what is no row becomes zeros.
template <class F>
void forRows(const ActivationRows& x, std::size_t begin, std::size_t end, std::byte* to, std::size_t bytes, F&& f) {
    for (std::size_t t = begin; t < end; ++t, to += bytes) {
        if (const float* row = x.row(t))
            f(row, to);
        else
            std::memset(to, 0, bytes);
    }
}

Quantised quantised(const ActivationRows& x, bool inTiles) {
    Quantised q{kernels::QuantisedRow(x.k, planes()), {}, {}};
    const std::size_t bytes = inTiles ? kernels::tileBytes(q.layout) : 0;
    q.rows = Buffer(std::max<std::size_t>(1, x.rows * q.layout.bytes));
    if (bytes != 0) q.tiles = Buffer((x.rows + 15) / 16 * bytes);
    parallelFor(x.rows, 16, [&](std::size_t begin, std::size_t end) {
        auto* rows = static_cast<std::byte*>(q.rows.data()) + begin * q.layout.bytes;
        forRows(x, begin, end, rows, q.layout.bytes,
                [&](const float* row, std::byte* to) { kernels::quantiseRow(row, q.layout, to); });
        if (bytes != 0)
            kernels::packTiles(q.layout, rows, end - begin,
                               static_cast<std::byte*>(q.tiles.data()) + begin / 16 * bytes);
    });
    return q;
}

SuperQuantised superQuantised(const ActivationRows& x, bool inTiles) {
    SuperQuantised q{kernels::SuperRow(x.k, planes()), {}, {}};
    const std::size_t bytes = kernels::superTileBytes(q.layout);
    q.rows = Buffer(std::max<std::size_t>(1, x.rows * q.layout.bytes));
    if (inTiles) q.tiles = Buffer((x.rows + 15) / 16 * bytes);
    parallelFor(x.rows, 16, [&](std::size_t begin, std::size_t end) {
        auto* rows = static_cast<std::byte*>(q.rows.data()) + begin * q.layout.bytes;
        forRows(x, begin, end, rows, q.layout.bytes,
                [&](const float* row, std::byte* to) { kernels::quantiseSuper(row, q.layout, to); });
        if (inTiles)
            kernels::packSuperTiles(q.layout, rows, end - begin,
                                    static_cast<std::byte*>(q.tiles.data()) + begin / 16 * bytes);
    });
    return q;
}

// The same rows one behind the other, if there is an index; `memory` keeps them.
ActivationRows inOrder(const ActivationRows& x, Buffer& memory) {
    if (!x.index) return x;
    memory = Buffer(std::max<std::size_t>(1, x.rows * x.k) * sizeof(float));
    auto* const values = static_cast<float*>(memory.data());
    const std::size_t bytes = x.k * sizeof(float);
    parallelFor(x.rows, 16, [&](std::size_t begin, std::size_t end) {
        forRows(x, begin, end, reinterpret_cast<std::byte*>(values + begin * x.k), bytes,
                [&](const float* row, std::byte* to) { std::memcpy(to, row, bytes); });
    });
    return {values, static_cast<std::ptrdiff_t>(x.k), x.rows, x.k};
}

SplitActivations::Piece splitPiece(const ActivationRows& x, int parts, std::size_t firstRow, std::size_t m) {
    SplitActivations::Piece piece{
        firstRow, m, parts, Buffer(std::max<std::size_t>(1, kernels::splitBytes(parts, m, x.k))), {}};
    piece.marked.resize(m);
    parallelFor(m, 16, [&](std::size_t begin, std::size_t end) {
        kernels::splitRows(parts, x.row(firstRow), x.stride, m, x.k, begin, end,
                           static_cast<std::byte*>(piece.rows.data()), piece.marked.data());
    });
    return piece;
}

const SplitActivations::Piece* find(const std::vector<SplitActivations::Piece>& pieces, int parts, std::size_t firstRow,
                                    std::size_t m) {
    for (const auto& piece : pieces)
        if (piece.parts == parts && piece.firstRow == firstRow && piece.m == m) return &piece;
    return nullptr;
}

}  // namespace

bool superblocks(Format format) noexcept { return meetsCodes(format) && kernels::superblocksWanted(format); }
bool split(Format format) noexcept {
    return detail::activations != Activations::float32 && kernels::splitWanted(format);
}

const SplitActivations::Piece& SplitActivations::of(Format weights, std::size_t firstRow, std::size_t m) const {
    return *find(pieces, kernels::activationParts(weights), firstRow, m);
}

Forms::Forms(const ActivationRows& x, const RowsProduct* products, std::size_t count) : floats(x) {
    bool codes = false, inTiles = false, supers = false, superInTiles = false, asFloats = false;
    const auto forEach = [&](auto&& f) {
        for (std::size_t i = 0; i < count; ++i) {
            const RowsProduct& p = products[i];
            if (p.m == 0 || p.n == 0) continue;
            f(p.w, p);
            if (p.up) f(*p.up, p);
        }
    };
    forEach([&](const WeightRows& w, const RowsProduct& p) {
        if (!meetsCodes(w.format)) {
            asFloats = true;
            return;
        }
        const bool asRows = w.interleaved && p.m <= kernels::mostInterleaved(w.format) && p.n % 16 == 0;
        if (superblocks(w.format)) {
            supers = true;
            superInTiles = superInTiles || (p.m > fewActivations && !asRows);
        } else {
            codes = true;
            inTiles = inTiles || (!asRows && kernels::tilesWanted(p.m, kernels::codeFormOf(w.format)));
        }
    });
    if (codes) integer = quantised(x, inTiles);
    if (supers) super = superQuantised(x, superInTiles);
    if (!asFloats) return;
    floats = inOrder(x, memory);
    forEach([&](const WeightRows& w, const RowsProduct& p) {
        const int parts = kernels::activationParts(w.format);
        if (erased::split(w.format) && !find(split.pieces, parts, p.firstRow, p.m))
            split.pieces.push_back(splitPiece(floats, parts, p.firstRow, p.m));
    });
}

}  // namespace axial::erased
