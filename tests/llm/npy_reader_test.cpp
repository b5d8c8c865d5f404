// Reads .npy files as NumPy writes them (the bytes are numpy 2.4's), and refuses those that contradict themselves.
#include "axial/llm/npy_reader.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#include "axial/llm/npy.h"
#include "axial/tensor/error.h"
#include "llm/temporary_folder.h"
#include "oracle.h"

using namespace axial;
using namespace axial::llm;
using axial::llm::test::TemporaryFolder;

namespace {

std::string npyOf(const std::string& dictionary, const std::string& data, int version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (std::size_t i = 0; i < (version == 1 ? 2 : 4); ++i)
        bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
    return bytes + dictionary + data;
}

StoredTensor parsed(const std::string& bytes) {
    auto owner = std::make_shared<const std::string>(bytes);
    return parseNpy(owner, {reinterpret_cast<const std::byte*>(owner->data()), owner->size()}, "folder/q.npy");
}

std::string refusal(const std::string& bytes) {
    try {
        (void)parsed(bytes);
    } catch (const axial::Error& error) {
        return error.what();
    }
    return "";
}

std::string counting(std::size_t n) {
    std::string data;
    for (std::size_t i = 0; i < n; ++i) data += static_cast<char>(i);
    return data;
}

const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n";

}  // namespace

TEST_CASE("npy: types, extents and versions") {
    const StoredTensor array = parsed(npyOf(good, counting(24)));
    CHECK(array.name == "q");
    CHECK(array.format == Format::f32);
    CHECK(array.extent == std::vector<std::size_t>{2, 3});
    CHECK(array.bytes == 24);
    CHECK(static_cast<int>(array.data[5]) == 5);
    for (const int version : {2, 3}) CHECK(parsed(npyOf(good, counting(24), version)).bytes == 24);
    const std::pair<const char*, Format> types[] = {{"<f2", Format::f16}, {"<f8", Format::f64}, {"|i1", Format::i8},
                                                    {"<i2", Format::i16}, {"<i4", Format::i32}, {"<i8", Format::i64}};
    for (const auto& [descr, format] : types) {
        const std::size_t size = infoOf(format).blockBytes;
        const auto one =
            parsed(npyOf("{\"shape\": (5,), \"fortran_order\": False, \"descr\": \"" + std::string(descr) + "\"}",
                         counting(5 * size)));
        CHECK(one.format == format);
        CHECK(one.extent == std::vector<std::size_t>{5});
    }
    CHECK(parsed(npyOf("{'descr':'<f4','fortran_order':True,'shape':()}", counting(4))).extent.empty());
    CHECK(parsed(npyOf("{'descr':'<f4','fortran_order':True,'shape':(3,0)}", "")).bytes == 0);
}

TEST_CASE("npy: Fortran order is brought into C order") {
    // numpy: np.asfortranarray(np.arange(12, dtype="i1").reshape(2, 3, 2))
    const std::string stored{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    const StoredTensor array = parsed(npyOf("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 2), }", stored));
    for (int i = 0; i < 12; ++i) CHECK(static_cast<int>(array.data[i]) == i);
}

TEST_CASE("npy: what is written is read") {
    const TemporaryFolder folder;
    const std::vector<float> values{1, -2, 3, 4, 5, 6};
    const std::size_t extents[] = {3, 2};
    writeNpy(folder.path() / "x.npy", values, extents);
    const StoredTensor array = readNpy(folder.path() / "x.npy");
    CHECK(array.extent == std::vector<std::size_t>{3, 2});
    CHECK(std::memcmp(array.data, values.data(), 24) == 0);
    if (!oracle::present()) return;
    const auto file = oracle::path("models/ref/trace/tiny-qwen3-F32/attn_probs.npy");
    const StoredTensor probabilities = readNpy(file);
    const auto same = oracle::readNpy(file);
    CHECK(probabilities.format == Format::f64);
    CHECK(probabilities.extent == same.extent);
    CHECK(std::memcmp(probabilities.data, same.values.data(), probabilities.bytes) == 0);
}

TEST_CASE("npy: a file that contradicts itself is refused by name") {
    const auto refused = [](const std::string& dictionary, std::size_t data, const std::string& text) {
        CAPTURE(dictionary);
        const std::string what = refusal(npyOf(dictionary, counting(data)));
        CAPTURE(what);
        CHECK(what.starts_with("folder/q.npy: "));
        CHECK(what.find(text) != std::string::npos);
    };
    const std::string start = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
    refused(good, 23, "takes 24 bytes, but 23 follow");
    refused(good, 25, "takes 24 bytes, but 25 follow");
    refused(start + "(4294967296, 4294967296)}", 4, "overflows");
    refused(start + "(18446744073709551616,)}", 4, "does not fit into 64 bits");
    refused(start + "(99999999999999999999999,)}", 4, "does not fit into 64 bits");
    refused(start + "(-1,)}", 4, "no tuple of whole numbers");
    refused(start + "(1.0,)}", 4, "a ) is wanted");
    refused(start + "(1", 4, "a ) is wanted");
    refused(start + "(1,,)}", 4, "no tuple of whole numbers");
    refused(start + "[1]}", 4, "a ( is wanted");
    refused(start + "(1,)} x", 4, "something stands behind it");
    refused(start + "(1,)", 4, "a } is wanted");
    refused(start + "(1,), 'shape': (1,)}", 4, "the key shape, or has it twice");
    refused("{'descr': '<f4', 'shape': (1,)}", 4, "it needs descr, fortran_order and shape");
    refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, "neither True nor False");
    refused("{'descr': '<f4', 'more\x1b[2J': 0}", 4, "the key \"more\\x1b[2J\"");
    refused("{'descr': '<f4", 4, "does not end");
    refused("{descr: '<f4'}", 4, "a quote is wanted");
    refused("", 4, "a { is wanted");
    refused("[]", 4, "a { is wanted");
    for (const char* type : {"<u4", ">f4", "|V2", "|b1", "|O", "<f16", "<c8", "<f"})
        CHECK_THROWS_WITH_AS(
            parsed(npyOf("{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (1,)}", counting(4))),
            doctest::Contains(("a .npy file of the type " + std::string(type) + ";").c_str()), UnsupportedError);
    CHECK_THROWS_WITH_AS(parsed(npyOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", counting(4))),
                         doctest::Contains("fields of their own"), UnsupportedError);
    CHECK_THROWS_AS(parsed(npyOf(start + "(1, 1, 1, 1, 1, 1, 1, 1, 1)}", counting(4))), UnsupportedError);
    CHECK_THROWS_AS(parsed(npyOf(good, counting(24), 4)), UnsupportedError);
    CHECK(refusal("PK\x03\x04 and more bytes than that").find("not a .npy file") != std::string::npos);
    std::string longer = npyOf(good, counting(24));
    longer[9] = '\x7f';
    CHECK(refusal(longer).find("does not fit into the file") != std::string::npos);
    CHECK_THROWS_AS(readNpy("no/such.npy"), FileError);
}

TEST_CASE("npy: cut or altered anywhere, a file is refused or can be used") {
    const std::string whole = npyOf(good, counting(24));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK_THROWS_AS(parsed(whole.substr(0, length)), FileError);
    }
    std::mt19937 random(7);
    std::size_t uses = 0, refusals = 0, sum = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = whole;
        for (int j = 0; j <= i % 3; ++j)
            bytes[random() % 80] = static_cast<char>(i % 2 ? random() : "0123456789',:{}() TFi"[random() % 21]);
        try {
            const StoredTensor array = parsed(bytes);
            for (std::size_t k = 0; k < array.bytes; ++k) sum += std::to_integer<std::size_t>(array.data[k]);
            ++uses;
        } catch (const axial::Error&) {
            ++refusals;
        }
    }
    CHECK(uses > 100);
    CHECK(refusals > 1000);
    CHECK(sum != 0);
}
