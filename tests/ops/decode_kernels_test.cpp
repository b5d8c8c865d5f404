#include "axial/ops/decode_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "ops/each_target.h"
#include "ops/stored_blocks.h"

using namespace axial;

TEST_CASE("decodeRow: every format as decode says, bit for bit") {
    forEachTarget([](const char* target) {
        for (const FormatInfo& info : formats) {
            CAPTURE(target);
            CAPTURE(info.name);
            for (const std::size_t blocks : {1, 3, 37}) {
                const std::size_t k = blocks * info.blockElements;
                const auto bytes = randomBlocks(info.format, k, 41);
                const auto expected = decoded(info.format, bytes);
                std::vector<float> values(k);
                std::vector<std::byte> scratch(kernels::decodeScratchBytes(info.format, k) + 64);
                void* start = scratch.data();
                std::size_t space = scratch.size();
                std::align(64, 1, start, space);
                kernels::decodeRow(info.format, bytes.data(), k, values.data(), static_cast<std::byte*>(start));
                CHECK(std::memcmp(values.data(), expected.data(), k * sizeof(float)) == 0);
            }
        }
    });
}

TEST_CASE("decodeRow: all halves and all bfloat16 numbers") {
    forEachTarget([](const char* target) {
        for (const Format format : {Format::f16, Format::bf16}) {
            CAPTURE(target);
            CAPTURE(nameOf(format));
            std::vector<std::uint16_t> all(65536);
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
            std::vector<float> values(all.size());
            kernels::decodeRow(format, reinterpret_cast<const std::byte*>(all.data()), all.size(), values.data(),
                               nullptr);
            std::size_t differ = 0;
            for (std::size_t i = 0; i < all.size(); ++i) {
                const float expected = format == Format::f16 ? f16ToF32(all[i]) : bf16ToF32(all[i]);
                if (std::isnan(expected))
                    differ += !std::isnan(values[i]);
                else
                    differ += std::memcmp(&values[i], &expected, 4) != 0;
            }
            CHECK(differ == 0);
        }
    });
}
