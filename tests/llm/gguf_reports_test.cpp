// Public bug reports about reading GGUF files, restated: each file is read, or refused with a message that says why.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "llm/gguf_bytes.h"

namespace {

using namespace axial::llm;
using namespace axial::llm::test;
using nlohmann::json;

// The report of that name, or null with a message when the reference data are not there.
json report(const std::string& id) {
    const std::filesystem::path path = std::filesystem::path(AXIAL_ORACLE) / "reports.jsonl";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (json entry = json::parse(line); entry.at("id") == id) return entry;
    MESSAGE("not run: no " << id << " in " << path.string());
    return nullptr;
}

// Reads every file of a report and compares what comes of it with a table of our own: "" for a file that is read, else
// a part of the message. Every file must have a row, and the report's expectation must agree.
void checkFiles(const json& entry, const std::map<std::string, std::string>& outcomes) {
    if (entry.is_null()) return;
    const json& files = entry.at("input").at("files");
    CHECK(files.size() == outcomes.size());
    for (const json& file : files) {
        const std::string name = file.at("name");
        const std::string expected = entry.at("expected").at("results").at(name);
        const std::string& outcome = outcomes.at(name);
        const std::string message = refusal(bytesOfHex(file.at("hex").get<std::string>()));
        CAPTURE(name);
        CAPTURE(expected);
        CAPTURE(message);
        if (outcome.empty()) {
            CHECK(message == "accepted");
            CHECK(expected != "error");
            CHECK(expected.find("error:") == std::string::npos);
        } else {
            CHECK(message.find(outcome) != std::string::npos);
            CHECK(expected.find("error") != std::string::npos);
        }
    }
}

}  // namespace

TEST_CASE("GGUF-01: a tensor's data must lie in the file, aligned, and apart from the others'") {
    checkFiles(report("GGUF-01"),
               {{"ok_min", ""},
                {"ok_nopad_last", ""},
                {"empty", "the magic number at offset 0 needs 4 bytes, but the file ends at 0"},
                {"magic_only", "the version at offset 4 needs 4 bytes, but the file ends at 4"},
                {"trunc_kv", "key general.architecture (1 of 1): its text at offset"},
                {"trunc_data", "tensor t (1 of 1): its 32 bytes of data"},
                {"trunc_nodata", "tensor t (1 of 1): its 32 bytes of data"},
                {"offset_huge", "tensor t (1 of 1): its 16 bytes of data, 18446744073709551584 into"},
                {"offset_gap", ""},
                {"offset_overlap", "the data of tensor a at ["},
                {"offset_misaligned", "is not a multiple of the alignment 32"}});
}

TEST_CASE("GGUF-02: dimensions whose product does not fit") {
    checkFiles(report("GGUF-02"), {{"dim_overflow", "tensor t (1 of 1): the dimensions described at offset"},
                                   {"dim_prod_2_64", "need more than 2^64 bytes"},
                                   {"dim_negative", "need more than 2^64 bytes"},
                                   {"bytes_overflow", "need more than 2^64 bytes"}});
}

TEST_CASE("GGUF-04: types that are unknown, removed, or do not fit") {
    checkFiles(report("GGUF-04"), {{"tensor_type_99", "tensor t (1 of 1): number format 99 at offset"},
                                   {"tensor_type_4_removed", "(Q4_2) was removed from the GGUF format"},
                                   {"q8_row_33", "rows of 33 values are not whole blocks of 32, which Q8_0"},
                                   {"kv_type_99", "key k (1 of 1): its type at offset 33 is 99"},
                                   {"arr_unknown_elem", "key k (1 of 1): its element type at offset 37 is 77"},
                                   {"arr_of_arr", ""},
                                   {"bool_2", "the boolean at offset"}});
}

TEST_CASE("GGUF-09: huge counts and lengths are refused at once, without memory") {
    const json entry = report("GGUF-09");
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    checkFiles(entry, {{"nkv_2_60", "the header: 1152921504606846976 keys, and at most 65536 are read"},
                       {"nt_2_60", "the header: 1152921504606846976 tensors, and at most 131072 are read"},
                       {"nkv_neg", "the header: 18446744073709551615 keys, and at most 65536 are read"},
                       {"keylen_2_62", "its name at offset 32 is said to be 4611686018427387904 bytes long"},
                       {"keylen_wrap", "its name at offset 32 is said to be 18446744073709551615 bytes long"},
                       {"strval_2_62", "key k (1 of 1): its text at offset 45 is said to be 4611686018427387904"},
                       {"arr_2_60", "key k (1 of 1): 1152921504606846976 values at offset 49"},
                       {"arr_unknown_elem", "its element type at offset 37 is 77"}});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    getrusage(RUSAGE_SELF, &after);
    CHECK(took.count() < 100);
    CHECK(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
}

TEST_CASE("GGUF-10: odd dimensions and names") {
    checkFiles(report("GGUF-10"), {{"zero_dim", "tensor t (1 of 1): dimension 1 at offset"},
                                   {"ndims_0", ""},
                                   {"ndims_5", "5 dimensions at offset"},
                                   {"ndims_max", "4294967295 dimensions at offset"},
                                   {"empty_key", "key 1 of 1: the name at offset 24 is empty"},
                                   {"long_tname", ""}});
    const json entry = report("GGUF-10");
    if (entry.is_null()) return;
    for (const json& file : entry.at("input").at("files")) {
        const std::string name = file.at("name");
        if (name != "long_tname" && name != "ndims_0") continue;
        const GgufFile model = parsed(bytesOfHex(file.at("hex").get<std::string>()));
        const StoredTensor& tensor = model.tensors()[0];
        CHECK(tensor.name == (name == "ndims_0" ? "t" : std::string(64, 'n')));
        CHECK(tensor.extent == (name == "ndims_0" ? std::vector<std::size_t>{} : std::vector<std::size_t>{4}));
        CHECK(tensor.bytes == (name == "ndims_0" ? 4 : 16));
    }
}

TEST_CASE("GGUF-11: the same tensor or key twice") {
    checkFiles(report("GGUF-11"),
               {{"dup_tensor", "tensor token_embd.weight is a duplicate: it is described at offset"},
                {"dup_key", "key general.architecture is a duplicate: it is at offset 24 and again at"}});
}
