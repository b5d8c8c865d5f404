// Safetensors files that somebody made to do harm: each is refused by name, before anything large is allocated. Which
// of them the official reader (safetensors 0.8.0) refuses too was compared on 18,000 altered files; it accepts the same
// name twice, white space before the header and more than 8 axes, and nothing is accepted here that it refuses.
#include <doctest/doctest.h>
#include <malloc.h>

#include <random>

#include "axial/llm/load.h"
#include "axial/tensor/error.h"
#include "oracle.h"
#include "safetensors_bytes.h"
#include "temporary_folder.h"

using namespace axial;
using namespace axial::llm;
using namespace axial::llm::test;

namespace {

std::string entry(const std::string& dtype, const std::string& shape, const std::string& begin,
                  const std::string& end) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[)" + begin + "," + end + "]}";
}

std::string refusal(const std::string& bytes) {
    try {
        (void)parsedSafetensors(bytes);
    } catch (const axial::Error& error) {
        return error.what();
    }
    return "";
}

void refused(const std::string& header, std::size_t data, const std::string& text) {
    CAPTURE(header.substr(0, 200));
    CHECK(refusal(safetensorsOf(header, data)) == "m.safetensors: " + text);
}

void accepted(const std::string& header, std::size_t data) {
    CAPTURE(header);
    CHECK(refusal(safetensorsOf(header, data)) == "");
}

// What the heap holds.
std::size_t heldBytes() {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

}  // namespace

TEST_CASE("safetensors: offsets and extents at the ends of whole numbers") {
    const auto a = [](const std::string& shape, const std::string& begin, const std::string& end) {
        return R"({"a":)" + entry("F32", shape, begin, end) + "}";
    };
    refused(a("[1]", "9007199254740993", "9007199254740997"), 4,
            "tensor a: its data_offsets are 9007199254740993 and 9007199254740997; the data have 4 bytes");
    refused(a("[1]", "18446744073709551612", "0"), 4,
            "tensor a: its data_offsets are 18446744073709551612 and 0; the data have 4 bytes");
    refused(a("[1]", "0", "18446744073709551616"), 4,
            "tensor a: data_offsets has 1.8446744073709552e+19, which is no whole number");
    refused(a("[1]", "-0", "4"), 4, "tensor a: data_offsets has 0, which is no whole number");
    refused(a("[1]", "0", "4e0"), 4, "tensor a: data_offsets has 4.0, which is no whole number");
    refused(a("[1]", "0", "\"4\""), 4, "tensor a: data_offsets has \"4\", which is no whole number");
    refused(a("[1]", "0", "true"), 4, "tensor a: data_offsets has true, which is no whole number");
    refused(a("[4611686018427387905]", "0", "4"), 4, "tensor a: its shape overflows");
    refused(a("[1152921504606846976,0]", "0", "0"), 0, "tensor a: its shape overflows");
    refused(a("[18446744073709551616]", "0", "4"), 4,
            "tensor a: shape has 1.8446744073709552e+19, which is no whole number");
    refused(a("[null]", "0", "4"), 4, "tensor a: shape has null, which is no whole number");
    accepted(a("[0,9007199254740993]", "0", "0"), 0);
}

TEST_CASE("safetensors: holes, overlaps and tensors without values") {
    const auto two = [](const std::string& a, const std::string& b) { return R"({"a":)" + a + R"(,"b":)" + b + "}"; };
    const std::string first = entry("F32", "[1]", "0", "4"), none = "[0]";
    refused(two(first, entry("F32", "[1]", "8", "12")), 12,
            "tensor b: its data begin at 8, but those before end at 4: the data overlap or leave a gap");
    refused(two(first, entry("F32", "[1]", "0", "4")), 4,
            "tensor b: its data begin at 0, but those before end at 4: the data overlap or leave a gap");
    refused(two(entry("I8", "[8]", "0", "8"), entry("I8", "[4]", "2", "6")), 8,
            "tensor b: its data begin at 2, but those before end at 8: the data overlap or leave a gap");
    refused(two(entry("I8", "[8]", "0", "8"), entry("F32", none, "4", "4")), 8,
            "tensor b: its data begin at 4, but those before end at 8: the data overlap or leave a gap");
    refused(two(first, entry("F32", none, "5", "5")), 4,
            "tensor b: its data_offsets are 5 and 5; the data have 4 bytes");
    refused("{}", 4, "the tensors' data end at 0, but the file has 4 bytes of them");
    accepted(two(first, entry("F32", none, "4", "4")), 4);
    accepted(two(first, entry("F32", none, "0", "0")), 4);
    accepted(two(entry("F32", none, "0", "0"), entry("F32", none, "0", "0")), 0);
    accepted("{}", 0);
}

TEST_CASE("safetensors: a key twice, anywhere, is refused") {
    const std::string good = entry("I8", "[1]", "0", "1");
    for (const char* key : {"dtype", "shape", "data_offsets", "more"}) {
        std::string twice = good;
        twice.insert(twice.size() - 1, R"(,"more":1,")" + std::string(key) + R"(":1)");
        refused(R"({"a":)" + twice + "}", 1, "tensor a: its entry has the key " + std::string(key) + " twice");
    }
    refused(R"({"a":)" + good + R"(,"\u0061":)" + good + "}", 1, "tensor a: the header has it twice");
    refused(R"({"__metadata__":{"k":"v","k":"w"}})", 0, "tensor __metadata__: its entry has the key k twice");
    refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "tensor __metadata__: the header has it twice");
    accepted(R"({"a":)" + good.substr(0, good.size() - 1) + R"(,"more":[{"x":1}]}})", 1);  // keys of later versions
}

TEST_CASE("safetensors: metadata are texts by name") {
    for (const char* value : {"1", "null", "true", "[\"x\"]", "{\"x\":\"y\"}", "[]", "{}"})
        refused(R"({"__metadata__":{"format":"pt","k":)" + std::string(value) + "}}", 0,
                "tensor __metadata__: a value of it is no text");
    for (const char* value : {"1", "\"x\"", "[]", "[\"x\"]"})
        refused(R"({"__metadata__":)" + std::string(value) + "}", 0,
                "tensor __metadata__: it is no JSON object of texts");
    accepted(R"({"__metadata__":{"é":"文","":""}})", 0);
    accepted(R"({"__metadata__":null})", 0);
}

TEST_CASE("safetensors: what is not UTF-8, or not to be shown, does not reach a terminal") {
    for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\\ud800", "\x1b", "\n"})
        CHECK(refusal(safetensorsOf("{\"" + std::string(bad) + "\":1}", 0))
                  .starts_with("m.safetensors: the header: not JSON at byte "));
    refused("{\"\u6587\\u001b[2J\":1}", 0, "tensor \"\\xe6\\x96\\x87\\x1b[2J\": its entry is not a JSON object");
    refused(R"({"":1})", 0, "tensor \"\": its entry is not a JSON object");
    refused(R"({"a":)" + entry("F\uff132", "[1]", "0", "4") + "}", 4,
            "tensor a is stored as \"F\\xef\\xbc\\x932\", which is no dtype of safetensors; F64, F32, F16, BF16, I64, "
            "I32, I16 and I8 are read");
    refused("{\"" + std::string(1000, 'x') + "\":1}", 0,
            "tensor \"" + std::string(80, 'x') + "...\": its entry is not a JSON object");
    CHECK(parsedSafetensors(safetensorsOf("{\"\u00e9\":" + entry("I8", "[1]", "0", "1") + "}", 1)).find("\u00e9"));
}

TEST_CASE("safetensors: nothing may stand around the header's object but spaces behind it") {
    accepted("{}       ", 0);
    for (const std::string before : {" ", "\n", "\xef\xbb\xbf", "[", "null", ""})
        refused(before.empty() ? "" : before + "{}", 0, "the header does not begin with \"{\" at offset 8");
    for (const std::string& after : {std::string(1, '\0'), std::string("\0{}", 3), std::string("}"), std::string("{}"),
                                    std::string(","), std::string("\xc2\xa0")})
        CHECK(refusal(safetensorsOf("{}" + after, 0)).starts_with("m.safetensors: the header: not JSON at byte 3"));
}

TEST_CASE("safetensors: a length that cannot be the header's") {
    const std::string rest = "{}";
    const auto with = [&](std::uint64_t length) {
        std::string bytes;
        for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
        return refusal(bytes + rest);
    };
    for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 31, std::uint64_t{1} << 53,
                                       std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 7})
        CHECK(with(length) ==
              "m.safetensors: the header of " + std::to_string(length) + " bytes does not fit into the file of 10");
    CHECK(with(1) == "m.safetensors: the header: not JSON at byte 2");
    const TemporaryFolder folder;
    const auto file = folder.write("m.safetensors", std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10));
    std::filesystem::resize_file(file, 100'000'001 + 8);  // sparse
    CHECK_THROWS_WITH_AS(
        Safetensors::open(file),
        doctest::Contains("the header has 100000001 bytes, more than the 100000000 that the specification allows"),
        FileError);
}

TEST_CASE("safetensors: a small header cannot ask for much memory") {
    const auto many = [](const std::string& begin, const std::string& each, std::size_t count, const std::string& end) {
        std::string text = begin;
        for (std::size_t i = 0; i < count; ++i) text += each;
        text.pop_back();  // the comma
        return text + end;
    };
    const std::size_t million = 1'000'000;
    const std::string start = R"({"a":{"dtype":"F32","data_offsets":[0,4],"shape":)";
    const std::string bombs[] = {many(start + "[", "1,", million, "]}}"), many(start + "[", "[],", million, "]}}"),
                                 many(start + "[", "{},", million, "]}}"),
                                 many(start + R"([1],"more":)" + "[", "[1],", million, "]}}"),
                                 start + std::string(million, '[')};
    for (const std::string& bomb : bombs) {
        const std::string file = safetensorsOf(bomb, 4);
        const std::string what = refusal(file);
        CAPTURE(bomb.substr(0, 80));
        CHECK((what == "m.safetensors: tensor a: its entry has more than 64 values" ||
               what == "m.safetensors: the header: nested more than 8 deep"));
    }
    std::string names = "{", keys = R"({"__metadata__":{)";
    for (std::size_t i = 0; i <= std::size_t{1} << 17; ++i) {
        names += "\"" + std::to_string(i) + "\":" + entry("I8", "[0]", "0", "0") + ",";
        keys += "\"" + std::to_string(i) + "\":\"\",";
    }
    names.back() = keys.back() = '}';
    refused(names, 0, "more than 131072 tensors, which is the most that is read");
    refused(keys + "}", 0, "tensor __metadata__: its entry has more than 131072 values");
    names.resize(names.rfind(",\"131072\""));
    const std::string whole = safetensorsOf(names + "}", 0);
    const std::size_t before = heldBytes();
    const Safetensors most = parsedSafetensors(whole);
    CHECK(most.tensors().size() == std::size_t{1} << 17);
    CHECK(heldBytes() - before < whole.size() + (std::size_t{64} << 20));
}

TEST_CASE("safetensors: a file with altered bytes is refused, or can be used") {
    const std::string whole =
        safetensorsOf(R"({"__metadata__":{"format":"pt"},"b":)" + entry("F32", "[2,3]", "8", "32") + R"(,"a":)" +
                          entry("BF16", "[4]", "0", "8") + R"(,"m":)" + entry("BOOL", "[2,2,2]", "32", "40") + "}",
                      40);
    std::mt19937 random(11);
    std::size_t refusals = 0, uses = 0, sum = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = whole;
        for (int j = 0; j <= i % 3; ++j)
            bytes[random() % bytes.size()] = static_cast<char>(i % 2 ? random() : "0123456789\",:{}[] "[random() % 18]);
        try {
            const Safetensors file = parsedSafetensors(bytes);
            for (const StoredTensor& tensor : file.tensors())
                for (std::size_t k = 0; k < tensor.bytes; ++k) sum += std::to_integer<std::size_t>(tensor.data[k]);
            ++uses;
        } catch (const axial::Error& error) {
            CHECK(std::string_view(error.what()).starts_with("m.safetensors: "));
            ++refusals;
        }
    }
    CHECK(refusals > 1000);
    CHECK(uses > 1000);
    CHECK(sum != 0);
}

TEST_CASE("safetensors: tensors of other dtypes do no harm until a model needs them") {
    std::string header = "{";
    std::size_t at = 0;
    const std::pair<const char*, std::size_t> dtypes[] = {
        // and bits
        {"U64", 64},        {"U32", 32},    {"U16", 16},    {"U8", 8},      {"BOOL", 8},
        {"C64", 64},        {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
        {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
    for (const auto& [dtype, bits] : dtypes) {
        header += "\"" + std::string(dtype) +
                  "\":" + entry(dtype, "[2,4]", std::to_string(at), std::to_string(at + bits)) + ",";
        at += bits;  // eight numbers
    }
    header += "\"plain\":" + entry("I64", "[1]", std::to_string(at), std::to_string(at + 8)) + "}";
    const Safetensors file = parsedSafetensors(safetensorsOf(header, at + 8));
    CHECK(file.tensors().size() == 1);
    REQUIRE(file.unread().size() == std::size(dtypes));
    for (const Safetensors::Unread& unread : file.unread()) CHECK(unread.name == unread.dtype);
    refused(R"({"a":)" + entry("F4", "[3]", "0", "1") + "}", 1,
            "tensor a: its shape takes 12 bits, which are no whole bytes");
    refused(R"({"a":)" + entry("F6_E2M3", "[4]", "0", "4") + "}", 4,
            "tensor a: its shape takes 3 bytes, but its data_offsets 0 and 4 are 4 apart");
    refused(R"({"a":)" + entry("BOOL", "[4]", "0", "3") + "}", 3,
            "tensor a: its shape takes 4 bytes, but its data_offsets 0 and 3 are 3 apart");
    for (const char* dtype : {"F7", "f32", "float32", "F32 ", "", "I4", "bool"})
        refused(R"({"a":)" + entry(dtype, "[1]", "0", "1") + "}", 1,
                "tensor a is stored as " +
                    (dtype[0] && !std::strchr(dtype, ' ') ? dtype : "\"" + std::string(dtype) + "\"") +
                    ", which is no dtype of safetensors; F64, F32, F16, BF16, I64, I32, I16 and I8 are read");

    if (!oracle::present()) return;
    // A model's file with one more tensor, and with one that the model needs in a format that is not read.
    const TemporaryFolder folder;
    for (const auto& part : std::filesystem::directory_iterator(oracle::path("models/tiny-qwen2-hf-BF16")))
        std::filesystem::copy_file(part.path(), folder.path() / part.path().filename());
    std::ifstream in(folder.path() / "model.safetensors", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const std::string json = bytes.substr(8, length), data = bytes.substr(8 + length);
    const auto write = [&](const std::string& changed, const std::string& more) {
        folder.write("model.safetensors", safetensorsOf(changed, 0) + data + more);
    };
    std::string added = json;
    const std::string end = std::to_string(data.size());
    added.insert(1, "\"model.layers.0.attn.mask\":" + entry("BOOL", "[3]", end, std::to_string(data.size() + 3)) + ",");
    write(added, "abc");
    CHECK(load(folder.path()).notes ==
          std::vector<std::string>{"1 tensors of the file are not used, the first is model.layers.0.attn.mask"});
    std::string changed = json;
    const std::size_t place = changed.find("BF16", changed.find("model.layers.1.mlp.up_proj.weight"));
    REQUIRE(place != std::string::npos);
    changed.replace(place, 4, "U16");
    write(changed, "");
    CHECK_THROWS_WITH_AS(load(folder.path()),
                         doctest::Contains("tensor blk.1.ffn_up.weight is stored as U16, which is not read; a weight "
                                           "must be F64, F32, F16 or BF16"),
                         UnsupportedError);
}
