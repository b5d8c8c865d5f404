// Floats into a stored format, on every instruction set.
#include "ops/each_target.h"

#include <cmath>
#include <limits>

#include "axial/ops/axes.h"
#include "axial/ops/store.h"
#include "axial/ops/store_kernels.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/error.h"
#include "axial/tensor/half.h"
#include "axial/tensor/stored.h"
#include "axial/tensor/tensor.h"

using namespace axial;
using namespace axial::axes;

TEST_CASE("storeF16 rounds as the plain conversion does, bit for bit, on every instruction set") {
    std::vector<float> x;
    for (std::uint32_t i = 0; i < 200000; ++i) x.push_back(std::bit_cast<float>(i * 21503u));
    // Ties, the largest half and what lies beyond, subnormals, infinities; then an odd tail.
    for (const float v :
         {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 65504.0f, 65519.9f, 65520.0f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, -0.0f,
          std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 3.0f, 5.0f})
        x.push_back(v);
    forEachTarget([&](const char*) {
        std::vector<std::uint16_t> half(x.size() + 1, 0xabcd);
        kernels::storeF16(x.data(), x.size(), half.data());
        std::size_t different = 0;
        for (std::size_t i = 0; i < x.size(); ++i) different += half[i] != f32ToF16(x[i]);
        CHECK(different == 0);
        CHECK(half.back() == 0xabcd);
    });
}

TEST_CASE("store writes rows where they belong, in F32, F16 and Q8_0") {
    auto from = uninitialized<float>(key(3), kvHead(2), channel(32));
    for (std::size_t i = 0; i < from.size(); ++i) from.values()[i] = std::sin(static_cast<float>(i)) * 4;
    for (const Format format : {Format::f32, Format::f16, Format::q8_0}) {
        CAPTURE(nameOf(format));
        using Rows = Axes<kvHead, key, channel>;
        Owned cache = allocate(format, names<Rows>, 3, {2, 5, 32});
        const Stored<kvHead, key, channel> all(cache.ref);
        erased::store(from.as(kvHead, key, channel).ref(), all.narrow(key, 1, 3).ref());
        for (std::size_t h = 0; h < 2; ++h)
            for (std::size_t p = 0; p < 3; ++p) {
                float row[32];
                const auto at = (h * 5 + 1 + p) * 32;
                decode(format, static_cast<const std::byte*>(cache.ref.data) + bytesOf(format, at), 32, row);
                for (std::size_t c = 0; c < 32; ++c) {
                    const float want = from(key(p), kvHead(h), channel(c));
                    if (format == Format::f32)
                        CHECK(row[c] == want);
                    else if (format == Format::f16)
                        CHECK(row[c] == f16ToF32(f32ToF16(want)));
                    else
                        CHECK(std::abs(row[c] - want) <= 4.0f / 127);
                }
            }
    }
}

TEST_CASE("store refuses what does not fit, and says what") {
    using Rows = Axes<key, channel>;
    const auto from = zeros<float>(key(2), channel(16));
    Owned longer = allocate(Format::f16, names<Rows>, 2, {3, 16}),
          wider = allocate(Format::f16, names<Rows>, 2, {2, 32});
    CHECK_THROWS_WITH_AS(erased::store(from.ref(), longer.ref), "store: axis key is 2 on the left and 3 on the right",
                         ShapeError);
    CHECK_THROWS_WITH_AS(erased::store(from.ref(), wider.ref),
                         "store: axis channel is 16 on the left and 32 on the right", ShapeError);
    TensorRef blocks = dense(Format::q8_0, names<Rows>, 2, {2, 16});
    CHECK_THROWS_WITH_AS(erased::store(from.ref(), blocks),
                         doctest::Contains("axis channel is 16, not a multiple of the 32"), ShapeError);
    TensorRef integers = dense(Format::i32, names<Rows>, 2, {2, 16});
    CHECK_THROWS_WITH_AS(erased::store(from.ref(), integers), doctest::Contains("not as I32"), ShapeError);
    CHECK_NOTHROW(erased::store(zeros<float>(key(0), channel(16)).ref(), dense(Format::f16, names<Rows>, 2, {0, 16})));
}
