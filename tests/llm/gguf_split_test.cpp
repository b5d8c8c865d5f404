// Models in several files.
#include "axial/llm/gguf_split.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "llm/gguf_bytes.h"

namespace {

using namespace axial::llm;
using namespace axial::llm::test;
using nlohmann::json;

class Folder {
  public:
    Folder() { std::filesystem::create_directories(path_); }
    ~Folder() { std::filesystem::remove_all(path_); }
    void write(const std::string& name, const Bytes& bytes) const {
        std::ofstream(path_ / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    void remove(const std::string& name) const { std::filesystem::remove(path_ / name); }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    // The message with which a file of the folder is refused, without the folder's name; or the names of its tensors.
    std::string outcome(const std::string& name) const {
        try {
            std::string names;
            const GgufFile file = GgufFile::open(path_ / name);
            for (const StoredTensor& tensor : file.tensors()) names += tensor.name + " ";
            return names;
        } catch (const axial::FileError& error) {
            std::string text = error.what();
            const std::string folder = path_.string() + "/";
            for (std::size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
            return text;
        }
    }

  private:
    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / ("axial_gguf_split_test_" + std::to_string(::getpid()));
};

const std::string first = "m-00001-of-00002.gguf", second = "m-00002-of-00002.gguf";

// One of two files, with one tensor.
GgufBytes part(std::uint16_t no, const std::string& tensor) {
    GgufBytes bytes;
    if (no == 0) bytes.key("general.architecture", "qwen3");
    bytes.key("split.no", no).key("split.count", std::uint16_t{2}).key("split.tensors.count", std::int32_t{2});
    return bytes.tensor(tensor, {4}, 0, 0);
}

}  // namespace

TEST_CASE("gguf: names of split files") {
    const auto name = parseSplitName("dir.name-00003-of-00012.gguf");
    REQUIRE(name.has_value());
    CHECK(name->prefix == "dir.name");
    CHECK(name->place == 3);
    CHECK(name->total == 12);
    CHECK(name->sibling(1) == "dir.name-00001-of-00012.gguf");
    for (const char* other :
         {"model.gguf", "best-of-breed.gguf", "x-00000-of-00002.gguf", "x-00003-of-00002.gguf", "x-0001-of-00002.gguf",
          "x-00001-of-00002.bin", "-00001-of-00002.gguf", "x-0000a-of-00002.gguf", "x-00001-OF-00002.gguf", ""})
        CHECK_MESSAGE(!parseSplitName(other).has_value(), other);
}

TEST_CASE("gguf: any file of a split model opens all of them") {
    const Folder folder;
    folder.write(first, part(0, "a.weight").bytes(16));
    folder.write(second, part(1, "b.weight").bytes(16));
    for (const std::string& name : {first, second}) {
        const GgufFile file = GgufFile::open(folder / name);
        CHECK(file.tensors().size() == 2);
        CHECK(file.tensors()[0].name == "a.weight");
        CHECK(file.tensors()[1].name == "b.weight");
        CHECK(file.findTensor("b.weight")->data[15] == std::byte{15});
        CHECK(file.require("general.architecture").string() == "qwen3");
        CHECK(file.require("split.no").count() == 0);
        CHECK(file.path() == folder / name);
        CHECK(file.fileBytes() ==
              std::filesystem::file_size(folder / first) + std::filesystem::file_size(folder / second));
    }
}

TEST_CASE("gguf: files that do not make one model are refused by name") {
    const Folder folder;
    folder.write(first, part(0, "a.weight").bytes(16));
    CHECK(folder.outcome(first) ==
          "m-00002-of-00002.gguf is missing: m-00001-of-00002.gguf is one of 2 files of a model, and all must be in "
          "one folder");
    folder.write(second, part(1, "b.weight").key("general.architecture", "llama").bytes(16));
    CHECK(folder.outcome(second) ==
          "m-00002-of-00002.gguf: key general.architecture is llama, but in m-00001-of-00002.gguf it is qwen3; are "
          "the files of one model?");
    folder.write(second, GgufBytes().tensor("b.weight", {4}, 0, 0).bytes(16));
    CHECK(folder.outcome(first) ==
          "m-00002-of-00002.gguf: key split.count is missing, but the file names say 2; are the files of one model?");
    folder.write(second, part(1, "b.weight").tensor("c.weight", {4}, 0, 32).bytes(48));
    CHECK(folder.outcome(first) ==
          "m-00001-of-00002.gguf: key split.tensors.count is 2, but all files together have 3 tensors; are the files "
          "of one model?");
    folder.write(second, part(1, "b.weight").bytes(15));
    CHECK(folder.outcome(first).find("m-00002-of-00002.gguf: tensor b.weight (1 of 1): its 16 bytes of data") == 0);
    folder.write("m-00001-of-00003.gguf", part(0, "a.weight").bytes(16));
    CHECK(folder.outcome("m-00001-of-00003.gguf") ==
          "m-00001-of-00003.gguf: key split.count is 2, but the file names say 3; are the files of one model?");
    CHECK(refusal(part(0, "a.weight").bytes(16)) ==
          "memory.gguf: the model is split into 2 files (key split.count), which can only be opened by path");
}

TEST_CASE("GGUF-05: models in several files") {
    const std::filesystem::path path = std::filesystem::path(AXIAL_ORACLE) / "reports.jsonl";
    std::ifstream lines(path);
    json entry;
    for (std::string line; std::getline(lines, line);)
        if (json candidate = json::parse(line); candidate.at("id") == "GGUF-05") entry = candidate;
    if (entry.is_null()) {
        MESSAGE("not run: no " << path.string());
        return;
    }
    const Folder folder;
    const json& files = entry.at("input").at("files");
    const auto write = [&](const std::string& name, const std::string& key) {
        folder.write(name, bytesOfHex(files.at(key).get<std::string>()));
    };
    write(first, first);
    write(second, second);
    CHECK(folder.outcome(first) == "a.weight b.weight ");
    CHECK(folder.outcome(second) == "a.weight b.weight ");
    folder.remove(second);
    CHECK(folder.outcome(first).find(second + " is missing") == 0);
    write("model.gguf", first);
    CHECK(folder.outcome("model.gguf").find("the file's name is not of the form NAME-0000I-of-0000N.gguf") !=
          std::string::npos);
    folder.write("best-of-breed.gguf", GgufBytes().tensor("t", {4}, 0, 0).bytes(16));
    CHECK(folder.outcome("best-of-breed.gguf") == "t ");
    for (const std::uint16_t whole : {0, 1}) {
        folder.write("x-00003-of-00002.gguf", GgufBytes().key("split.count", whole).tensor("t", {4}, 0, 0).bytes(16));
        CHECK(folder.outcome("x-00003-of-00002.gguf") == "t ");
    }
    write(second, "bad/m-00002-of-00002.gguf(duplicate a.weight)");
    CHECK(folder.outcome(first).find("tensor a.weight is a duplicate") != std::string::npos);
    write(second, "bad2/m-00002-of-00002.gguf(split.tensors.count 3)");
    CHECK(folder.outcome(first).find(second + ": key split.tensors.count is 3, but all files together have 2") == 0);
    write(second, "bad3/m-00002-of-00002.gguf(split.no 0)");
    CHECK(folder.outcome(first).find(second + ": key split.no is 0, but by its name the file is number 1") == 0);
}
