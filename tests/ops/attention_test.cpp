#include "axial/ops/attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "axial/ops/attention_plain.h"
#include "axial/ops/elementwise.h"
#include "axial/ops/structure.h"
#include "axial/tensor/decode.h"
#include "axial/tensor/encode.h"
#include "axial/tensor/error.h"
#include "axial/tensor/half.h"
#include "axial/tensor/parallel.h"
#include "ops/each_target.h"
#include "ops/samples.h"
#include "oracle.h"

using namespace axial;
using namespace axial::axes;

namespace {

constexpr Axis<"batch"> batch;
constexpr float infinity = std::numeric_limits<float>::infinity();

using Queries = Tensor<float, seq, head, channel>;
using Keys = Tensor<float, key, kvHead, channel>;

std::vector<float> flat(const nlohmann::json& j) {
    if (j.is_number()) return {j.get<float>()};
    std::vector<float> all;
    for (const auto& part : j)
        for (const float v : flat(part)) all.push_back(v);
    return all;
}

// The same numbers in another format, and what they decode to.
struct StoredKeys {
    std::vector<std::byte> bytes;
    Keys decoded;
    Weight<key, kvHead, channel> stored;
};
StoredKeys storeAs(Format format, const Keys& from) {
    StoredKeys s;
    const std::size_t n = from.size();
    s.bytes.resize(bytesOf(format, n));
    const auto values = from.values();
    if (format == Format::q8_0) {
        quantizeQ8_0(values.data(), n, s.bytes.data());
    } else if (format == Format::f16) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint16_t half = f32ToF16(values[i]);
            std::memcpy(&s.bytes[2 * i], &half, 2);
        }
    } else {
        std::memcpy(s.bytes.data(), values.data(), s.bytes.size());
    }
    s.decoded = uninitialized<float>(key(from.extent(key)), kvHead(from.extent(kvHead)), channel(from.extent(channel)));
    decode(format, s.bytes.data(), n, s.decoded.values().data());
    s.stored = Weight<key, kvHead, channel>(s.bytes.data(), format, from.ref().extent);
    return s;
}

std::vector<float> plainly(const Queries& q, const Keys& k, const Keys& v, const AttentionOptions& o,
                           const float* bias = nullptr) {
    std::vector<float> out(q.size());
    const std::size_t channels = q.extent(channel);
    plain::groupedAttention({q.extent(seq), k.extent(key), q.extent(head), k.extent(kvHead), channels,
                             o.scale.value_or(1 / std::sqrt(static_cast<float>(channels))), o.causal, o.window},
                            out.data(), q.data(), k.data(), v.data(), bias);
    return out;
}

std::string errorOf(auto&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("groupedAttention: reference cases, on every instruction set") {
    if (!oracle::present()) return;
    const auto reference = oracle::json("ops/groupedAttention.json");
    for (const auto& c : reference["cases"]) {
        CAPTURE(c["name"].get<std::string>());
        const auto& cq = c["q"];
        const auto& ck = c["k"];
        const Queries q = tensor<float>(std::span<const float>(flat(cq)), seq(cq.size()), head(cq[0].size()),
                                        channel(cq[0][0].size()));
        const auto keys = [&](const nlohmann::json& from) {
            return tensor<float>(std::span<const float>(flat(from)), key(ck.size()), kvHead(ck[0].size()),
                                 channel(ck[0][0].size()));
        };
        const Keys k = keys(ck), v = keys(c["v"]);
        AttentionOptions options;
        options.scale = c["scale"].get<float>();
        options.causal = c["mask"] == "causal";
        options.window = c["window"].get<std::size_t>();
        const std::vector<float> want = flat(c["out"]);
        CHECK(largestDifference(plainly(q, k, v, options), want) < 2e-6);
        forEachTarget([&](const char*) {
            const Queries out = groupedAttention(q, k, v, options);
            CHECK(largestDifference(out.values(), want) < 2e-6);
        });
    }
}

TEST_CASE("groupedAttention: equals its plain definition for any sizes and formats, on every instruction set") {
    struct Case {
        std::size_t queries, keys, heads, kvHeads, channels, window;
        bool causal;
    };
    const Case cases[] = {
        {1, 1, 1, 1, 1, 0, true},
        {1, 700, 4, 2, 128, 0, true},
        {3, 257, 6, 2, 64, 0, true},
        {70, 300, 4, 4, 32, 0, true},
        {13, 520, 7, 1, 96, 0, true},
        {5, 600, 2, 1, 20, 100, true},
        {40, 40, 9, 3, 64, 0, true},
        {2, 290, 4, 2, 8, 0, false},
        {60, 31, 2, 2, 48, 0, false},
        {33, 333, 3, 1, 128, 7, true},
        {1, 1000, 16, 8, 128, 0, true},
        {4, 30, 60, 1, 16, 0, true},
        // few rows, which meet keys and values as they are stored
        {1, 300, 1, 1, 32, 0, true},
        {1, 270, 3, 1, 96, 0, true},
        {2, 530, 8, 2, 80, 0, true},
        {2, 600, 4, 2, 160, 40, true},
        {4, 277, 4, 2, 64, 0, false},
    };
    unsigned seed = 1;
    for (const Case& c : cases) {
        CAPTURE(c.queries);
        CAPTURE(c.keys);
        CAPTURE(c.channels);
        const Queries q = randomTensor(seed++, seq(c.queries), head(c.heads), channel(c.channels));
        const Keys k = randomTensor(seed++, key(c.keys), kvHead(c.kvHeads), channel(c.channels));
        const Keys v = randomTensor(seed++, key(c.keys), kvHead(c.kvHeads), channel(c.channels));
        AttentionOptions options;
        options.causal = c.causal;
        options.window = c.window;
        // Of keys, of values.
        const std::pair<Format, Format> formats[] = {{Format::f32, Format::f32},   {Format::f16, Format::f16},
                                                     {Format::q8_0, Format::q8_0}, {Format::q8_0, Format::f16},
                                                     {Format::f16, Format::q8_0},  {Format::f32, Format::f16}};
        for (const auto& [keyFormat, valueFormat] : formats) {
            if ((keyFormat == Format::q8_0 || valueFormat == Format::q8_0) && c.channels % 32 != 0) continue;
            CAPTURE(nameOf(keyFormat));
            CAPTURE(nameOf(valueFormat));
            const StoredKeys sk = storeAs(keyFormat, k), sv = storeAs(valueFormat, v);
            const std::vector<float> want = plainly(q, sk.decoded, sv.decoded, options);
            forEachTarget([&](const char*) {
                const Queries out = groupedAttention(q, sk.stored, sv.stored, options);
                CHECK(largestDifference(out.values(), want) < 3e-6);
                // decoding first changes no bit
                CHECK(sameBits(groupedAttention(q, sk.decoded, sv.decoded, options), out));
            });
        }
    }
}

TEST_CASE("groupedAttention: a query's bits depend neither on its neighbours nor on the threads") {
    constexpr std::size_t most = 64;
    for (const std::size_t past : {std::size_t{0}, std::size_t{470}}) {
        const std::size_t keys = past + most;
        const Queries q = randomTensor(7, seq(most), head(4), channel(64));
        const Keys k32 = randomTensor(8, key(keys), kvHead(2), channel(64));
        const Keys v32 = randomTensor(9, key(keys), kvHead(2), channel(64));
        const StoredKeys k = storeAs(Format::f16, k32), v = storeAs(Format::f16, v32);
        for (const std::size_t window : {std::size_t{0}, std::size_t{50}}) {
            AttentionOptions options;
            options.window = window;
            forEachTarget([&](const char*) {
                CAPTURE(past);
                CAPTURE(window);
                std::vector<Queries> alone;
                {
                    ThreadTeam one(1);
                    UseTeam use(one);
                    for (std::size_t i = 0; i < most; ++i)
                        alone.push_back(groupedAttention(q.narrow(seq, i, 1), k.stored.narrow(key, 0, past + i + 1),
                                                         v.stored.narrow(key, 0, past + i + 1), options));
                }
                for (std::size_t threads = 1; threads <= 4; ++threads) {
                    ThreadTeam team(threads);
                    UseTeam use(team);
                    for (const std::size_t n : {1, 2, 3, 5, 8, 24, 25, 47, 63, 64}) {
                        const Queries together =
                            groupedAttention(q.narrow(seq, 0, n), k.stored.narrow(key, 0, past + n),
                                             v.stored.narrow(key, 0, past + n), options);
                        bool same = true;
                        for (std::size_t i = 0; i < n; ++i)
                            same = same && sameBits(together.values().subspan(i * 256, 256), alone[i].values());
                        CHECK_MESSAGE(same, n, " queries, ", threads, " threads");
                    }
                }
            });
        }
    }
}

TEST_CASE("groupedAttention: 1 to 64 queries together, each as if alone") {
    const Queries q = randomTensor(47, seq(64), head(6), channel(32));
    const Keys k = randomTensor(48, key(300), kvHead(2), channel(32));
    const Keys v = randomTensor(49, key(300), kvHead(2), channel(32));
    const auto whole = groupedAttention(q, k, v);
    for (std::size_t n = 1; n <= 64; ++n) {  // the last n of the 64
        const auto part = groupedAttention(q.narrow(seq, 64 - n, n), k, v);
        CHECK(sameBits(part, whole.values().subspan((64 - n) * 192)));
    }
}

TEST_CASE("groupedAttention: the decoding split over blocks of keys gives the same bits") {
    const Queries q = randomTensor(17, seq(1), head(2), channel(128));
    const Keys k = randomTensor(18, key(2100), kvHead(1), channel(128)),
               v = randomTensor(19, key(2100), kvHead(1), channel(128));
    ThreadTeam one(1), four(4);
    const auto with = [&](ThreadTeam& team) {
        UseTeam use(team);
        return groupedAttention(q, k, v);
    };
    CHECK(sameBits(with(one), with(four)));
    CHECK(largestDifference(with(four), plainly(q, k, v, {})) < 2e-6);
}

TEST_CASE("groupedAttention: axes in any order, batches by name") {
    const auto q = randomTensor(21, batch(3), head(4), seq(5), channel(16));
    const auto k = randomTensor(22, kvHead(2), batch(3), channel(16), key(9));  // channels lie apart
    const auto v = randomTensor(23, kvHead(2), key(9), channel(16));            // shared by the batch
    const Tensor<float, batch, head, seq, channel> out = groupedAttention(q, k, v);
    for (std::size_t b = 0; b < 3; ++b) {
        const Queries qb = copy(q(batch(b)).as(seq, head, channel));
        const Keys kb = copy(k(batch(b)).as(key, kvHead, channel)), vb = copy(v.as(key, kvHead, channel));
        const auto want = copy(groupedAttention(qb, kb, vb));
        const auto got = copy(out(batch(b)).as(seq, head, channel));
        CHECK(sameBits(got.values(), want.values()));
    }
    // two batch axes, one of them known to the keys only
    const auto one = copy(q(batch(0)).as(seq, head, channel));
    const auto grid = randomTensor(24, batch(2), axes::expert(3), seq(5), head(4), channel(16));
    const auto keys = randomTensor(25, axes::expert(3), key(9), kvHead(2), channel(16));
    const auto all = groupedAttention(grid, keys, v);
    const auto part = groupedAttention(copy(grid(batch(1), axes::expert(2))), copy(keys(axes::expert(2))), v);
    CHECK(sameBits(copy(all(batch(1), axes::expert(2))), part));
}

TEST_CASE("groupedAttention: an additive bias, of any of the axes") {
    const Queries q = randomTensor(31, seq(6), head(4), channel(32));
    const Keys k = randomTensor(32, key(300), kvHead(2), channel(32)),
               v = randomTensor(33, key(300), kvHead(2), channel(32));
    auto full = randomTensor(34, head(4), seq(6), key(300));
    for (std::size_t j = 0; j < 300; ++j) full(head(1), seq(2), key(j)) = -infinity;  // sees nothing
    for (std::size_t j = 0; j < 256; ++j) full(head(2), seq(3), key(j)) = -infinity;  // no key of the first block
    const auto perKey = copy(full(head(0), seq(0)));
    forEachTarget([&](const char*) {
        for (const bool causal : {true, false}) {
            AttentionOptions options;
            options.causal = causal;
            const Queries out = groupedAttention(q, k, v, full, options);
            CHECK(largestDifference(out.values(), plainly(q, k, v, options, full.data())) < 3e-6);
            for (std::size_t c = 0; c < 32; ++c) CHECK(out(seq(2), head(1), channel(c)) == 0);

            auto spread = zeros<float>(head(4), seq(6), key(300));
            spread += perKey;
            CHECK(sameBits(groupedAttention(q, k, v, perKey, options), groupedAttention(q, k, v, spread, options)));
            const auto turned = copy(full.as(key, head, seq));
            CHECK(sameBits(groupedAttention(q, k, v, turned, options), out));
        }
    });
}

TEST_CASE("groupedAttention: what a hidden key holds does not matter") {
    const Queries q = randomTensor(41, seq(5), head(2), channel(16));
    Keys k = randomTensor(42, key(40), kvHead(1), channel(16)), v = randomTensor(43, key(40), kvHead(1), channel(16));
    const auto before = groupedAttention(q, k, v);
    for (std::size_t c = 0; c < 16; ++c) {  // the last key is seen by the last query only
        k(key(39), kvHead(0), channel(c)) = std::numeric_limits<float>::quiet_NaN();
        v(key(39), kvHead(0), channel(c)) = infinity;
    }
    const auto after = groupedAttention(q, k, v);
    CHECK(sameBits(before.values().first(4 * 32), after.values().first(4 * 32)));
    CHECK(std::isnan(after(seq(4), head(0), channel(0))));
}

TEST_CASE("groupedAttention: empty extents") {
    const auto q = zeros<float>(seq(0), head(4), channel(8));
    const auto k = zeros<float>(key(3), kvHead(2), channel(8));
    CHECK(groupedAttention(q, k, k).size() == 0);
    CHECK(groupedAttention(zeros<float>(seq(2), head(0), channel(8)), zeros<float>(key(3), kvHead(0), channel(8)),
                           zeros<float>(key(3), kvHead(0), channel(8)))
              .size() == 0);
    const auto none = zeros<float>(key(0), kvHead(2), channel(8));
    const auto out = groupedAttention(randomTensor(1, seq(2), head(4), channel(8)), none, none, {.causal = false});
    CHECK(largestMagnitude(out.values()) == 0);
}

TEST_CASE("groupedAttention: errors say what disagrees") {
    const auto q = zeros<float>(seq(2), head(4), channel(8));
    const auto k = zeros<float>(key(3), kvHead(2), channel(8));
    CHECK(errorOf([&] { (void)groupedAttention(q, k, zeros<float>(key(4), kvHead(2), channel(8))); }) ==
          "groupedAttention: axis key is 3 on the left and 4 on the right");
    CHECK(errorOf([&] { (void)groupedAttention(q, zeros<float>(key(3), kvHead(2), channel(9)), k); }) ==
          "groupedAttention: axis channel is 8 on the left and 9 on the right");
    const auto three = zeros<float>(key(3), kvHead(3), channel(8));
    CHECK(errorOf([&] { (void)groupedAttention(q, three, three); }) ==
          "groupedAttention: axis head is 4, which is no multiple of axis kvHead, 3");
    const auto one = zeros<float>(key(1), kvHead(2), channel(8));
    CHECK(errorOf([&] { (void)groupedAttention(q, one, one); }).find("axis seq is 2 and axis key is 1") !=
          std::string::npos);
    CHECK(errorOf([&] { (void)groupedAttention(q, k, k, {.causal = false, .window = 3}); }) ==
          "groupedAttention: a window of 3 needs causal");
    const std::vector<std::byte> raw(3 * 2 * 32);
    const Weight<key, kvHead, channel> bf16(raw.data(), Format::bf16, {3, 2, 8});
    CHECK(errorOf([&] { (void)groupedAttention(q, bf16, k); }) ==
          "groupedAttention k: [key=3, kvHead=2, channel=8] is stored as BF16; F32, F16 and Q8_0 are supported");
    CHECK(errorOf([&] { (void)groupedAttention(q, k, k, zeros<float>(seq(3), key(3))); }) ==
          "groupedAttention: axis seq is 2 on the left and 3 on the right");
}
