#include "axial/ops/linear.h"

#include <algorithm>
#include <vector>

#include "axial/ops/activation_forms.h"
#include "axial/ops/activations.h"
#include "axial/ops/decode_kernels.h"
#include "axial/ops/dot_kernels.h"
#include "axial/ops/elementwise_kernels.h"
#include "axial/ops/interleaved.h"
#include "axial/ops/interleaved_kernels.h"
#include "axial/ops/linear_kernels.h"
#include "axial/ops/split_floats.h"
#include "axial/ops/superblock_kernels.h"
#include "axial/tensor/buffer.h"
#include "axial/tensor/parallel.h"

namespace axial::erased {
namespace {

// Memory of this thread that lives on between strips, for one purpose each. A new request takes the place of the last.
enum class Purpose { weights, gates, restored };
template <Purpose>
std::byte* scratch(std::size_t bytes) {
    static thread_local Buffer buffer;
    static thread_local std::size_t size = 0;
    if (size < bytes) {
        buffer = Buffer();
        buffer = Buffer(bytes);
        size = bytes;
    }
    return static_cast<std::byte*>(buffer.data());
}

constexpr std::size_t wholeLines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

bool plainFloats(Format format) { return format == Format::f32 || format == Format::f16 || format == Format::bf16; }

// Rows [begin, end) of one matrix of weights against rows of activations, to out[t * outStride + j - begin].
struct Strip {
    const WeightRows* w;
    std::size_t begin, end;
    std::size_t firstRow, m;
    float* out;
    std::ptrdiff_t outStride;
    const float* add;
    std::ptrdiff_t addStride;
};

void integerStrip(const Strip& s, const Quantised& x) {
    const kernels::CodeForm form = kernels::codeFormOf(s.w->format);
    const std::size_t k = x.layout.k, codeStride = wholeLines(k), groupStride = wholeLines(k / form.group * 4) / 4;
    const std::size_t most = s.m == 1 ? 16 : 32, panel = kernels::panelBytes(k, form);
    std::byte* memory = scratch<Purpose::weights>(panel + most * (codeStride + 8 * groupStride));
    const std::byte* rows = s.w->data + static_cast<std::ptrdiff_t>(s.begin) * s.w->rowBytes;
    if (kernels::dotBlocks({s.w->format, rows, s.w->rowBytes, s.end - s.begin, &x.layout, x.row(s.firstRow), s.m, s.out,
                            s.outStride, s.add, s.addStride, memory}))
        return;
    auto* scale = reinterpret_cast<float*>(memory + panel + most * codeStride);
    const kernels::CodeRows codes{reinterpret_cast<std::int8_t*>(memory + panel), codeStride, scale,
                                  scale + most * groupStride, groupStride};
    // Tiles begin at every 16th row of activations, so only a product that begins at one can use them.
    const bool inTiles = x.tiles && s.firstRow % 16 == 0 && kernels::tilesWanted(s.m, form);
    const auto* tiles =
        inTiles ? static_cast<const std::byte*>(x.tiles.data()) + s.firstRow / 16 * kernels::tileBytes(x.layout)
                : nullptr;
    for (std::size_t j = s.begin, count; j < s.end; j += count) {
        const std::size_t column = j - s.begin;
        const std::byte* w = rows + static_cast<std::ptrdiff_t>(column) * s.w->rowBytes;
        const bool packed = s.end - j >= 16 && kernels::packBlocks(s.w->format, w, s.w->rowBytes, x.layout, memory);
        count = packed ? 16 : std::min(most, s.end - j);
        if (!packed) kernels::unpackRows(s.w->format, w, s.w->rowBytes, count, k, codes);
        kernels::dotCodes({packed ? kernels::CodeRows{} : codes, count, form, &x.layout, x.row(s.firstRow), tiles, s.m,
                           s.out + column, s.outStride, s.add ? s.add + column : nullptr, s.addStride, memory,
                           s.w->format});
    }
}

void floatStrip(const Strip& s, const ActivationRows& x) {
    const std::size_t n = s.end - s.begin;
    const std::byte* rows = s.w->data + static_cast<std::ptrdiff_t>(s.begin) * s.w->rowBytes;
    kernels::FloatProduct p{x.data + static_cast<std::ptrdiff_t>(s.firstRow) * x.stride,
                            x.stride,
                            s.m,
                            s.w->format,
                            rows,
                            s.w->rowBytes,
                            n,
                            x.k,
                            s.out,
                            s.outStride,
                            s.add,
                            s.addStride};
    if (!plainFloats(s.w->format) || (s.w->format != Format::f32 && s.m > 4)) {
        const std::size_t stride = wholeLines(x.k * sizeof(float));
        std::byte* memory = scratch<Purpose::weights>(n * stride + kernels::decodeScratchBytes(s.w->format, x.k));
        for (std::size_t j = 0; j < n; ++j)
            kernels::decodeRow(s.w->format, rows + static_cast<std::ptrdiff_t>(j) * s.w->rowBytes, x.k,
                               reinterpret_cast<float*>(memory + j * stride), memory + n * stride);
        p.format = Format::f32;
        p.w = memory;
        p.rowBytes = static_cast<std::ptrdiff_t>(stride);
    }
    kernels::dotFloats(p);
}

void superStrip(const Strip& s, const SuperQuantised& x) {
    const std::byte* rows = s.w->data + static_cast<std::ptrdiff_t>(s.begin) * s.w->rowBytes;
    const bool inTiles = x.tiles && s.m > fewActivations && s.firstRow % 16 == 0;  // as above
    kernels::SuperProduct p{s.w->format,   rows,
                            s.w->rowBytes, s.end - s.begin,
                            &x.layout,     x.at(s.firstRow, inTiles),
                            s.m,           s.out,
                            s.outStride,   s.add,
                            s.addStride,   scratch<Purpose::weights>(kernels::superScratchBytes(x.layout.k, s.m))};
    if (!inTiles) return kernels::dotSuperRows(p);
    for (std::size_t j = 0; j < s.end - s.begin; j += 32) {
        kernels::SuperProduct part = p;
        part.w += static_cast<std::ptrdiff_t>(j) * s.w->rowBytes;
        part.rows = std::min<std::size_t>(32, s.end - s.begin - j);
        part.out += j;
        if (part.add) part.add += j;
        kernels::dotSuperTiles(part);
    }
}

void splitStrip(const Strip& s, const ActivationRows& x, const SplitActivations& split) {
    const SplitActivations::Piece& piece = split.of(s.w->format, s.firstRow, s.m);
    const bool interleaved = s.w->interleaved != nullptr;
    const std::size_t rows = s.end - s.begin;
    kernels::dotSplit(
        {s.w->format,
         (interleaved ? s.w->interleaved : s.w->data) + static_cast<std::ptrdiff_t>(s.begin) * s.w->rowBytes,
         s.w->rowBytes, interleaved, rows, x.k, static_cast<const std::byte*>(piece.rows.data()), piece.marked.data(),
         s.m, s.out, s.outStride, s.add, s.addStride,
         scratch<Purpose::weights>(kernels::splitScratchBytes(rows, x.k, s.m))});
    for (std::size_t t = 0; t < s.m; ++t) {
        if (!piece.marked[t]) continue;
        Strip row = s;
        row.firstRow += t;
        row.m = 1;
        row.out += static_cast<std::ptrdiff_t>(t) * s.outStride;
        if (row.add) row.add += static_cast<std::ptrdiff_t>(t) * s.addStride;
        floatStrip(row, x);
    }
}

void storedStrip(const Strip& s, const ActivationRows& x, const Forms& forms) {
    if (superblocks(s.w->format))
        superStrip(s, forms.super);
    else if (meetsCodes(s.w->format))
        integerStrip(s, forms.integer);
    else if (split(s.w->format))
        splitStrip(s, x, forms.split);
    else
        floatStrip(s, x);
}

// The first rows of a strip, or the ones from there on.
Strip part(const Strip& s, std::size_t begin, std::size_t end) {
    Strip p = s;
    p.begin = s.begin + begin;
    p.end = s.begin + end;
    p.out += begin;
    if (p.add) p.add += begin;
    return p;
}

// Whole groups of interleaved rows.
void interleavedStrip(const Strip& s, const ActivationRows& x, const Forms& forms) {
    const std::byte* groups = s.w->interleaved + static_cast<std::ptrdiff_t>(s.begin) * s.w->rowBytes;
    const std::size_t rows = s.end - s.begin;
    if (split(s.w->format)) return splitStrip(s, x, forms.split);
    if (s.m > kernels::mostInterleaved(s.w->format)) {
        const auto bytes = static_cast<std::size_t>(s.w->rowBytes);
        std::byte* memory = scratch<Purpose::restored>(rows * bytes);
        for (std::size_t j = 0; j < rows; j += 16)
            kernels::restore(s.w->format, groups + j * bytes, x.k, memory + j * bytes);
        const WeightRows restored{s.w->format, memory, s.w->rowBytes};
        Strip stored = s;
        stored.w = &restored;
        stored.begin = 0;
        stored.end = rows;
        return storedStrip(stored, x, forms);
    }
    if (superblocks(s.w->format)) {
        const SuperQuantised& q = forms.super;
        kernels::dotSuperInterleaved({s.w->format, groups, s.w->rowBytes, rows, &q.layout, q.at(s.firstRow, false), s.m,
                                      s.out, s.outStride, s.add, s.addStride,
                                      scratch<Purpose::weights>(kernels::superScratchBytes(x.k, s.m))});
    } else {
        const Quantised& q = forms.integer;
        kernels::dotInterleaved(
            {s.w->format, groups, s.w->rowBytes, rows, &q.layout, q.row(s.firstRow), s.m, s.out, s.outStride, s.add,
             s.addStride, scratch<Purpose::weights>(kernels::panelBytes(x.k, kernels::codeFormOf(s.w->format)))});
    }
}

void anyStrip(const Strip& s, const ActivationRows& x, const Forms& forms) {
    const std::size_t groups = s.w->interleaved ? (s.end - s.begin) / 16 * 16 : 0;
    if (groups != 0) interleavedStrip(part(s, 0, groups), x, forms);
    if (groups == s.end - s.begin) return;
    Strip rest = part(s, groups, s.end - s.begin);
    WeightRows stored = *s.w;
    stored.interleaved = nullptr;
    rest.w = &stored;
    storedStrip(rest, x, forms);
}

void gatedStrip(const Strip& s, const WeightRows& up, const ActivationRows& x, const Forms& q) {
    const std::size_t n = s.end - s.begin;
    float* gates = reinterpret_cast<float*>(scratch<Purpose::gates>(2 * s.m * n * sizeof(float)));
    Strip one = s;
    one.out = gates;
    one.outStride = static_cast<std::ptrdiff_t>(n);
    anyStrip(one, x, q);
    one.w = &up;
    one.out = gates + s.m * n;
    anyStrip(one, x, q);
    for (std::size_t t = 0; t < s.m; ++t) {
        float* out = s.out + static_cast<std::ptrdiff_t>(t) * s.outStride;
        if (t + 16 < s.m)  // the rows of the result lie far apart, so each is a wait for memory unless asked for early
            for (std::size_t i = 0; i < n && i < 32; i += 16) __builtin_prefetch(out + 16 * s.outStride + i, 1);
        kernels::pointwise(kernels::Pointwise::swiglu, out, gates + t * n, 1, gates + (s.m + t) * n, 1, n);
    }
}

// Rows [begin, end) of a product's weights: what one task takes.
struct Part {
    const RowsProduct* product;
    std::size_t begin, end;
};

// Rows of split weights that are unpacked for many activations at once: the activations come from the third-level cache
// for each part anew.
constexpr std::size_t manySplit = 128;

// Cuts the weights for a team. Where many activations meet each row, parts are small. Where few do, reading the weights
// is all the work: each part is then half of a fair share of what is left, so that most of it is read in long runs and
// the threads still end together.
std::vector<Part> cut(const RowsProduct* products, std::size_t count) {
    const auto bytesOf = [](const RowsProduct& p) {
        return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, std::abs(p.w.rowBytes)));
    };
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (products[i].m != 0) left += products[i].n * bytesOf(products[i]);
    std::vector<Part> parts;
    const auto most = [&](const RowsProduct& p, std::size_t fair) {
        if (split(p.w.format)) return p.m > kernels::mostSplitAtReading ? manySplit : std::max<std::size_t>(16, fair);
        return p.m > (p.w.interleaved ? kernels::mostInterleaved(p.w.format) : 8) ? 32
                                                                                  : std::max<std::size_t>(16, fair);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const RowsProduct& p = products[i];
        if (p.m == 0) continue;
        for (std::size_t begin = 0; begin < p.n;) {
            const std::size_t fair = left / (2 * currentTeam().size()) / bytesOf(p) / 16 * 16;
            const std::size_t end = std::min(p.n, begin + most(p, fair));
            parts.push_back({&p, begin, end});
            left -= (end - begin) * bytesOf(p);
            begin = end;
        }
    }
    return parts;
}

}  // namespace

bool meetsCodes(Format format) {
    return detail::activations != Activations::float32 && kernels::codeFormOf(format).group != 0;
}

void multiply(const ActivationRows& x, const RowsProduct* given, std::size_t count) {
    std::vector<RowsProduct> products(given, given + count);
    std::vector<WeightRows> ups(count);
    for (std::size_t i = 0; i < count; ++i) {
        RowsProduct& p = products[i];
        const auto find = [&](WeightRows& w) {
            if ((meetsCodes(w.format) || split(w.format)) && p.n != 0)
                w.interleaved = interleaved(w, p.n, x.k, p.m != 0 && p.m <= kernels::mostInterleaved(w.format));
        };
        find(p.w);
        if (!p.up) continue;
        ups[i] = *p.up;
        find(ups[i]);
        p.up = &ups[i];
    }
    const std::vector<Part> parts = cut(products.data(), count);
    if (parts.empty()) return;
    const Forms q(x, products.data(), count);
    const Activations arithmetic = detail::activations;

    auto task = [&](std::size_t index) {
        const UseActivations use(arithmetic);
        const auto& [p, begin, end] = parts[index];
        const Strip strip{&p->w,       begin,          end,          p->firstRow,
                          p->m,        p->out + begin, p->outStride, p->add ? p->add + begin : nullptr,
                          p->addStride};
        if (p->up)
            gatedStrip(strip, *p->up, q.floats, q);
        else
            anyStrip(strip, q.floats, q);
    };
    currentTeam().run(parts.size(), task);
}

}  // namespace axial::erased
