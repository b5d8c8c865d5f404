#include "axial/llm/npy_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "axial/llm/shown_name.h"
#include "axial/tensor/error.h"
#include "axial/tensor/mapped_file.h"

namespace axial::llm {
namespace {

struct Type {
    std::string_view descr;
    Format format;
};
constexpr Type types[] = {{"<f4", Format::f32}, {"<f8", Format::f64}, {"<f2", Format::f16}, {"<i4", Format::i32},
                          {"<i8", Format::i64}, {"<i2", Format::i16}, {"|i1", Format::i8},  {"<i1", Format::i8}};
constexpr std::size_t mostAxes = 8, mostHeader = 1 << 16;

// The header's dictionary, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Dictionary {
  public:
    Dictionary(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {
        take('{');
        while (!takeIf('}')) {
            const std::string_view key = quoted();
            take(':');
            if (key == "descr" && descr.empty()) {
                if (peek() != '\'' && peek() != '"') refuse("fields of their own");
                descr = quoted();
            } else if (key == "fortran_order" && !saysOrder_) {
                saysOrder_ = true;
                fortranOrder = truth();
            } else if (key == "shape" && !saysShape_) {
                saysShape_ = true;
                readShape();
            } else {
                fail("it has the key " + shownName(key) + ", or has it twice");
            }
            if (!takeIf(',')) {
                take('}');
                break;
            }
        }
        if (text_.substr(at_).find_first_not_of(" \n") != text_.npos) fail("something stands behind it");
        if (descr.empty() || !saysOrder_ || !saysShape_) fail("it needs descr, fortran_order and shape");
    }

    std::string_view descr;
    bool fortranOrder = false;
    std::vector<std::size_t> shape;

    [[noreturn]] void fail(const std::string& text) const {
        throw FileError(path_.string() + ": the .npy header's dictionary: " + text);
    }
    [[noreturn]] void refuse(const std::string& what) const {
        throw UnsupportedError(path_.string() + ": a .npy file of " + what +
                               "; float16, float32, float64, int8, int16, int32 and int64 are read, little-endian");
    }

  private:
    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool takeIf(char c) {
        if (peek() != c || at_ == text_.size()) return false;
        ++at_;
        return true;
    }
    void take(char c) {
        if (!takeIf(c)) fail("at byte " + std::to_string(at_) + " of it a " + std::string(1, c) + " is wanted");
    }
    std::string_view quoted() {
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("at byte " + std::to_string(at_) + " of it a quote is wanted");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == text_.npos) fail("the quote at byte " + std::to_string(at_) + " of it does not end");
        const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return inside;
    }
    bool truth() {
        (void)peek();
        for (const std::string_view word : {"True", "False"})
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return word == "True";
            }
        fail("fortran_order is neither True nor False");
    }
    void readShape() {
        take('(');
        while (!takeIf(')')) {
            const std::size_t begin = (static_cast<void>(peek()), at_);
            std::size_t extent = 0;
            for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
                if (__builtin_mul_overflow(extent, 10u, &extent) ||
                    __builtin_add_overflow(extent, static_cast<std::size_t>(text_[at_] - '0'), &extent))
                    fail("an extent of its shape does not fit into 64 bits");
            if (at_ == begin) fail("its shape is no tuple of whole numbers");
            if (shape.size() == mostAxes) refuse("more than " + std::to_string(mostAxes) + " axes");
            shape.push_back(extent);
            if (!takeIf(',')) {
                take(')');
                break;
            }
        }
    }

    const std::filesystem::path& path_;
    std::string_view text_;
    std::size_t at_ = 0;
    bool saysOrder_ = false, saysShape_ = false;
};

// Numbers of `size` bytes whose first axis is the fastest, in C order.
std::shared_ptr<std::vector<std::byte>> inCOrder(std::span<const std::byte> from, std::span<const std::size_t> extent,
                                                 std::size_t size) {
    auto to = std::make_shared<std::vector<std::byte>>(from.size());
    std::vector<std::size_t> at(extent.size()), stride(extent.size());
    for (std::size_t i = 0, step = size; i < extent.size(); step *= extent[i++]) stride[i] = step;
    std::size_t source = 0;
    for (std::size_t done = 0; done < from.size(); done += size) {
        std::memcpy(to->data() + done, from.data() + source, size);
        for (std::size_t axis = extent.size(); axis-- > 0;) {
            source += stride[axis];
            if (++at[axis] < extent[axis]) break;
            source -= stride[axis] * extent[axis];
            at[axis] = 0;
        }
    }
    return to;
}

}  // namespace

StoredTensor parseNpy(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                      const std::filesystem::path& path) {
    const auto fail = [&](const std::string& text) { throw FileError(path.string() + ": " + text); };
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with("\x93NUMPY") || bytes.size() < 12)
        fail("not a .npy file (it does not begin with \\x93NUMPY, a version and a length)");
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
    const std::size_t version = byte(6);
    if (version < 1 || version > 3 || byte(7) != 0)
        throw UnsupportedError(path.string() + ": a .npy file of version " + std::to_string(version) + "." +
                               std::to_string(byte(7)) + "; versions 1.0, 2.0 and 3.0 are read");
    const std::size_t begin = version == 1 ? 10 : 12;
    const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
    if (length > bytes.size() - begin || length > mostHeader)
        fail("its .npy header of " + std::to_string(length) + " bytes does not fit into the file of " +
             std::to_string(bytes.size()) + ", or is longer than " + std::to_string(mostHeader));
    const Dictionary dictionary(path, text.substr(begin, length));
    const auto* type = std::ranges::find(types, dictionary.descr, &Type::descr);
    if (type == std::end(types)) dictionary.refuse("the type " + shownName(dictionary.descr));

    StoredTensor array;
    array.name = path.stem().string();
    array.format = type->format;
    array.extent = dictionary.shape;
    const std::size_t size = infoOf(array.format).blockBytes;
    std::size_t total = size;
    for (const std::size_t extent : array.extent)
        if (__builtin_mul_overflow(total, extent, &total)) fail("the shape of its .npy header overflows");
    const std::span<const std::byte> data = bytes.subspan(begin + length);
    if (total != data.size())
        fail("the shape of its .npy header takes " + std::to_string(total) + " bytes, but " +
             std::to_string(data.size()) + " follow");
    array.data = data.data();
    array.bytes = total;
    array.mapping = std::move(owner);
    if (dictionary.fortranOrder && array.extent.size() > 1) {
        auto copy = inCOrder(data, array.extent, size);
        array.data = copy->data();
        array.mapping = std::move(copy);
    }
    return array;
}

StoredTensor readNpy(const std::filesystem::path& path) {
    auto file = std::make_shared<const MappedFile>(path);
    const std::span<const std::byte> bytes = file->bytes();
    return parseNpy(std::move(file), bytes, path);
}

}  // namespace axial::llm
