#include "axial/llm/safetensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/shown_name.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {

struct Safetensors::Contents {
    std::filesystem::path path;
    std::uint64_t fileBytes = 0;
    std::vector<StoredTensor> tensors;
    std::vector<Unread> unread;
};

namespace {

using Json = nlohmann::json;
using Event = nlohmann::detail::parse_event_t;

constexpr std::size_t lengthBytes = 8, mostHeader = 100'000'000, mostTensors = std::size_t{1} << 17, mostAxes = 8,
                      mostValues = 64;

struct Dtype {
    std::string_view name;
    unsigned bits;
    std::optional<Format> format;  // none: it is not read
};
constexpr Dtype dtypes[] = {
    {"F64", 64, Format::f64}, {"F32", 32, Format::f32},
    {"F16", 16, Format::f16}, {"BF16", 16, Format::bf16},
    {"I64", 64, Format::i64}, {"I32", 32, Format::i32},
    {"I16", 16, Format::i16}, {"I8", 8, Format::i8},
    {"U64", 64, {}},          {"U32", 32, {}},
    {"U16", 16, {}},          {"U8", 8, {}},
    {"BOOL", 8, {}},          {"C64", 64, {}},
    {"F8_E4M3", 8, {}},       {"F8_E5M2", 8, {}},
    {"F8_E8M0", 8, {}},       {"F8_E4M3FNUZ", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},   {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},       {"F4", 4, {}},
};

constexpr std::string_view metadata = "__metadata__";

struct Tensors {
    std::vector<StoredTensor> read;
    std::vector<Safetensors::Unread> unread;
};

// Reads one file's header.
class Header {
  public:
    Header(const std::filesystem::path& path, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
        : path_(path), owner_(std::move(owner)) {
        if (bytes.size() < lengthBytes)
            fail("it has " + std::to_string(bytes.size()) + " bytes, fewer than the 8 of the header's length");
        std::uint64_t length = 0;
        for (std::size_t i = lengthBytes; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
        if (length > bytes.size() - lengthBytes)
            fail("the header of " + std::to_string(length) + " bytes does not fit into the file of " +
                 std::to_string(bytes.size()));
        if (length > mostHeader)
            fail("the header has " + std::to_string(length) + " bytes, more than the " + std::to_string(mostHeader) +
                 " that the specification allows");
        const auto* text = reinterpret_cast<const char*>(bytes.data() + lengthBytes);
        data_ = bytes.subspan(lengthBytes + length);
        if (length == 0 || *text != '{') fail("the header does not begin with \"{\" at offset 8");
        constexpr int deepest = 8;
        const Json rest = parsedJson<Json>(
            std::string_view(text, length), deepest, [this](const std::string& what) { fail("the header: " + what); },
            [this](int depth, Event event, Json& value) { return keep(depth, event, value); });
        if (!rest.is_object()) fail("the header is not a JSON object");
        checkData();
    }

    Tensors tensors() && { return std::move(tensors_); }

  private:
    struct Place {
        std::uint64_t begin, end;
        std::string tensor;
    };

    [[noreturn]] void fail(const std::string& text) const { throw FileError(path_.string() + ": " + text); }
    [[noreturn]] void fail(std::string_view tensor, const std::string& text) const {
        fail("tensor " + shownName(tensor) + ": " + text);
    }

    // Each entry is taken when it has been read, and not kept.
    bool keep(int depth, Event event, const Json& value) {
        if (event == Event::key && depth == 1) {
            name_ = value.get_ref<const std::string&>();
            if (!names_.insert(name_).second) fail(name_, "the header has it twice");
            fields_.clear();
            values_ = 0;
        } else if (event == Event::key && depth == 2) {
            if (!fields_.insert(value.get_ref<const std::string&>()).second)
                fail(name_, "its entry has the key " + shownName(value.get_ref<const std::string&>()) + " twice");
        } else if (depth == 1 && event != Event::object_start && event != Event::array_start) {
            if (name_ != metadata)
                take(value);
            else if (!value.is_object() && !value.is_null())
                fail(name_, "it is no JSON object of texts");
            return false;
        } else if (name_ == metadata && depth == 2) {
            if (event != Event::value || !value.is_string()) fail(name_, "a value of it is no text");
            count(mostTensors);
            return false;
        } else if (depth > 1 && event != Event::key && event != Event::object_end && event != Event::array_end) {
            count(mostValues);
        }
        return true;
    }

    // One more value in the entry.
    void count(std::size_t most) {
        if (++values_ > most) fail(name_, "its entry has more than " + std::to_string(most) + " values");
    }

    std::uint64_t whole(const Json& value, const char* what) const {
        if (!value.is_number_unsigned())
            fail(name_, std::string(what) + " has " + value.dump().substr(0, 40) + ", which is no whole number");
        return value.get<std::uint64_t>();
    }

    void take(const Json& entry) {
        if (!entry.is_object()) fail(name_, "its entry is not a JSON object");
        if (places_.size() == mostTensors)
            fail("more than " + std::to_string(mostTensors) + " tensors, which is the most that is read");
        const auto member = [&](const char* key) -> const Json& {
            const auto found = entry.find(key);
            if (found == entry.end()) fail(name_, std::string("its entry has no ") + key);
            return *found;
        };
        const Json &dtype = member("dtype"), &shape = member("shape"), &offsets = member("data_offsets");
        if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
            fail(name_, "dtype must be a text, shape a list and data_offsets a list of two numbers");
        const auto* known = std::ranges::find(dtypes, dtype.get_ref<const std::string&>(), &Dtype::name);
        if (known == std::end(dtypes))
            throw UnsupportedError(path_.string() + ": tensor " + shownName(name_) + " is stored as " +
                                   shownName(dtype.get_ref<const std::string&>()) +
                                   ", which is no dtype of safetensors; F64, F32, F16, BF16, I64, I32, I16 and I8 are "
                                   "read");
        if (shape.size() > mostAxes)
            fail(name_, "it has " + std::to_string(shape.size()) + " axes, more than " + std::to_string(mostAxes));
        std::vector<std::size_t> extents;
        std::uint64_t bits = known->bits;
        for (const Json& extent : shape) {
            extents.push_back(whole(extent, "shape"));
            if (__builtin_mul_overflow(bits, extents.back(), &bits)) fail(name_, "its shape overflows");
        }
        if (bits % 8 != 0) fail(name_, "its shape takes " + std::to_string(bits) + " bits, which are no whole bytes");
        const std::uint64_t bytes = bits / 8;
        const std::uint64_t begin = whole(offsets[0], "data_offsets"), end = whole(offsets[1], "data_offsets");
        if (begin > end || end > data_.size())
            fail(name_, "its data_offsets are " + std::to_string(begin) + " and " + std::to_string(end) +
                            "; the data have " + std::to_string(data_.size()) + " bytes");
        if (end - begin != bytes)
            fail(name_, "its shape takes " + std::to_string(bytes) + " bytes, but its data_offsets " +
                            std::to_string(begin) + " and " + std::to_string(end) + " are " +
                            std::to_string(end - begin) + " apart");
        places_.push_back({begin, end, name_});
        if (known->format)
            tensors_.read.push_back({name_, *known->format, std::move(extents), data_.data() + begin, bytes, owner_});
        else
            tensors_.unread.push_back({name_, std::string(known->name)});
    }

    // The data follow each other without overlaps and gaps, and fill the file.
    void checkData() {
        std::ranges::sort(places_, {}, [](const Place& p) { return std::pair(p.begin, p.end); });
        std::uint64_t at = 0;
        for (const Place& p : places_) {
            if (p.begin != at)
                fail(p.tensor, "its data begin at " + std::to_string(p.begin) + ", but those before end at " +
                                   std::to_string(at) + ": the data overlap or leave a gap");
            at = p.end;
        }
        if (at != data_.size())
            fail("the tensors' data end at " + std::to_string(at) + ", but the file has " +
                 std::to_string(data_.size()) + " bytes of them");
        for (StoredTensor& tensor : tensors_.read) align(tensor);
    }

    // Writers pad the header so that numbers lie at multiples of their size, but the format does not ask for it:
    // numbers that do not are copied.
    static void align(StoredTensor& tensor) {
        const auto size = static_cast<std::size_t>(infoOf(tensor.format).blockBytes);
        if (tensor.bytes == 0 || reinterpret_cast<std::uintptr_t>(tensor.data) % size == 0) return;
        auto copy = std::make_shared<std::vector<std::byte>>(tensor.data, tensor.data + tensor.bytes);
        tensor.data = copy->data();
        tensor.mapping = std::move(copy);
    }

    const std::filesystem::path& path_;
    std::shared_ptr<const void> owner_;
    std::span<const std::byte> data_;
    std::string name_;
    std::set<std::string> names_, fields_;  // of the file; of the entry that is read
    std::size_t values_ = 0;                // in that entry
    Tensors tensors_;
    std::vector<Place> places_;
};

template <class Named>
void sortByName(std::vector<Named>& tensors) {
    std::ranges::sort(tensors, {}, &Named::name);
}

// That of the name, or nullptr.
template <class Named>
const Named* among(const std::vector<Named>& sorted, std::string_view name) {
    const auto found = std::ranges::lower_bound(sorted, name, {}, &Named::name);
    return found == sorted.end() || found->name != name ? nullptr : &*found;
}

Tensors tensorsOf(const std::filesystem::path& path, std::uint64_t& fileBytes) {
    auto file = std::make_shared<const MappedFile>(path);
    fileBytes += file->bytes().size();
    Tensors tensors = Header(path, file->bytes(), file).tensors();
    for (StoredTensor& tensor : tensors.read)
        if (tensor.mapping == file) tensor.origin = Origin::onDisk;  // else it is a copy
    return tensors;
}

// Whether a file of a model lies in its folder. Hugging Face's cache keeps the files of snapshots/<revision> in the
// blobs folder beside snapshots, and links to them.
bool staysInside(const std::filesystem::path& folder, const std::filesystem::path& file) {
    const auto real = std::filesystem::canonical(file).parent_path(), own = std::filesystem::canonical(folder);
    return real == own ||
           (own.parent_path().filename() == "snapshots" && real == own.parent_path().parent_path() / "blobs");
}

// weight_map: which tensor is in which file.
std::map<std::string, std::vector<std::string>> filesOf(const std::filesystem::path& index) {
    const auto fail = [&](const std::string& text) { throw FileError(index.string() + ": " + text); };
    const MappedFile mapped(index);
    if (mapped.bytes().size() > mostHeader)
        fail("it has " + std::to_string(mapped.bytes().size()) + " bytes, more than " + std::to_string(mostHeader));
    std::map<std::string, std::vector<std::string>> files;
    std::set<std::string> names;
    std::string name;
    bool inMap = false;
    std::size_t count = 0;
    const std::string_view text(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    constexpr int deepest = 32;
    const Json rest = parsedJson<Json>(text, deepest, fail, [&](int depth, Event event, Json& value) {
        if (event == Event::key && depth == 1) inMap = value == "weight_map";
        if (!inMap || depth < 2) return true;
        if (event == Event::key) {
            name = value.get<std::string>();
            return true;
        }
        if (depth != 2 || event != Event::value || !value.is_string())
            fail("weight_map: the file of tensor " + shownName(name) + " is not a text");
        if (++count > mostTensors) fail("more than " + std::to_string(mostTensors) + " tensors");
        if (!names.insert(name).second) fail("weight_map has tensor " + shownName(name) + " twice");
        files[value.get<std::string>()].push_back(name);
        return false;
    });
    if (!rest.is_object() || !rest.contains("weight_map") || !rest["weight_map"].is_object() || files.empty())
        fail("it has no weight_map with the files of the tensors");
    return files;
}

}  // namespace

Safetensors::Safetensors(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Safetensors Safetensors::parse(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                               const std::filesystem::path& path) {
    auto contents = std::make_shared<Contents>();
    contents->path = path;
    contents->fileBytes = bytes.size();
    Tensors all = Header(contents->path, bytes, std::move(owner)).tensors();
    sortByName(all.read);
    sortByName(all.unread);
    contents->tensors = std::move(all.read);
    contents->unread = std::move(all.unread);
    return Safetensors(std::move(contents));
}

Safetensors Safetensors::open(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    std::error_code unknown;
    if (fs::is_directory(path, unknown)) {
        const fs::path index = path / "model.safetensors.index.json";
        return open(fs::exists(index, unknown) ? index : path / "model.safetensors");
    }
    auto contents = std::make_shared<Contents>();
    contents->path = path;
    if (path.extension() != ".json") {
        Tensors all = tensorsOf(path, contents->fileBytes);
        contents->tensors = std::move(all.read);
        contents->unread = std::move(all.unread);
    } else {
        const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
        for (const auto& [name, wanted] : filesOf(path)) {
            const auto fail = [&, &file = name](const std::string& text) {
                throw FileError(path.string() + ": weight_map names the file " + shownName(file) + ", " + text);
            };
            if (name.empty() || name == "." || name == ".." ||
                name.find_first_of(std::string_view("/\\\0", 3)) != name.npos)
                fail("which is not the plain name of a file in the same folder");
            if (!fs::is_regular_file(folder / name, unknown)) fail("which is not there; is the download complete?");
            if (!staysInside(folder, folder / name)) fail("which is a link that leaves the folder");
            Tensors own = tensorsOf(folder / name, contents->fileBytes);
            sortByName(own.read);
            sortByName(own.unread);
            for (const std::string& tensor : wanted) {
                if (const StoredTensor* read = among(own.read, tensor))
                    contents->tensors.push_back(*read);
                else if (const Unread* other = among(own.unread, tensor))
                    contents->unread.push_back(*other);
                else
                    fail("which does not hold the tensor " + shownName(tensor) + " that it should");
            }
        }
    }
    sortByName(contents->tensors);
    sortByName(contents->unread);
    return Safetensors(std::move(contents));
}

const std::vector<StoredTensor>& Safetensors::tensors() const& { return contents_->tensors; }
const std::vector<Safetensors::Unread>& Safetensors::unread() const& { return contents_->unread; }
const StoredTensor* Safetensors::find(std::string_view name) const { return among(contents_->tensors, name); }

const std::filesystem::path& Safetensors::path() const { return contents_->path; }
std::uint64_t Safetensors::fileBytes() const { return contents_->fileBytes; }

}  // namespace axial::llm
