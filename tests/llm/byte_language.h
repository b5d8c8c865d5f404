// Regular languages of bytes by Brzozowski's derivatives (1964): slow, short, and nothing that an engine does.
#pragma once
#include <memory>
#include <string_view>
#include <utility>

namespace axial::llm::test {

class Language {
  public:
    enum class Kind { nothing, emptyText, byte, sequence, either, repeated };
    struct Node;

    bool isNothing() const;     // no text at all
    bool hasEmptyText() const;  // whether it may end here
    // What may come behind a byte.
    Language behind(unsigned char byte) const;

    static Language nothing();
    static Language emptyText();
    static Language byteIn(unsigned char first, unsigned char last);
    friend Language operator+(const Language& a, const Language& b);
    friend Language operator|(const Language& a, const Language& b);
    friend Language many(const Language& a);

  private:
    explicit Language(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
    std::shared_ptr<const Node> node_;
};

struct Language::Node {
    Kind kind = Kind::nothing;
    unsigned char first = 0, last = 0;
    std::shared_ptr<const Node> a = nullptr, b = nullptr;
};

inline Language Language::nothing() { return Language(std::make_shared<Node>()); }
inline Language Language::emptyText() { return Language(std::make_shared<Node>(Node{Kind::emptyText})); }
inline Language Language::byteIn(unsigned char first, unsigned char last) {
    return Language(std::make_shared<Node>(Node{Kind::byte, first, last}));
}
inline bool Language::isNothing() const { return node_->kind == Kind::nothing; }
inline bool Language::hasEmptyText() const {
    switch (node_->kind) {
        case Kind::emptyText:
        case Kind::repeated:
            return true;
        case Kind::sequence:
            return Language(node_->a).hasEmptyText() && Language(node_->b).hasEmptyText();
        case Kind::either:
            return Language(node_->a).hasEmptyText() || Language(node_->b).hasEmptyText();
        default:
            return false;
    }
}
inline Language operator+(const Language& a, const Language& b) {
    if (a.isNothing() || b.node_->kind == Language::Kind::emptyText) return a;
    if (b.isNothing() || a.node_->kind == Language::Kind::emptyText) return b;
    return Language(std::make_shared<Language::Node>(Language::Node{Language::Kind::sequence, 0, 0, a.node_, b.node_}));
}
inline Language operator|(const Language& a, const Language& b) {
    if (a.isNothing() || a.node_ == b.node_) return b;
    if (b.isNothing()) return a;
    return Language(std::make_shared<Language::Node>(Language::Node{Language::Kind::either, 0, 0, a.node_, b.node_}));
}
inline Language many(const Language& a) {
    return Language(std::make_shared<Language::Node>(Language::Node{Language::Kind::repeated, 0, 0, a.node_}));
}
inline Language Language::behind(unsigned char byte) const {
    const Node& n = *node_;
    switch (n.kind) {
        case Kind::byte:
            return byte >= n.first && byte <= n.last ? emptyText() : nothing();
        case Kind::sequence: {
            const Language a(n.a), b(n.b), first = a.behind(byte) + b;
            return a.hasEmptyText() ? first | b.behind(byte) : first;
        }
        case Kind::either:
            return Language(n.a).behind(byte) | Language(n.b).behind(byte);
        case Kind::repeated:
            return Language(n.a).behind(byte) + *this;
        default:
            return nothing();
    }
}

inline Language behind(Language language, std::string_view text) {
    for (const char byte : text) language = language.behind(static_cast<unsigned char>(byte));
    return language;
}
inline Language byteIn(unsigned char first, unsigned char last) { return Language::byteIn(first, last); }
inline Language text(std::string_view bytes) {
    Language all = Language::emptyText();
    for (const char byte : bytes)
        all = all + byteIn(static_cast<unsigned char>(byte), static_cast<unsigned char>(byte));
    return all;
}
inline Language anyOf(std::string_view bytes) {
    Language all = Language::nothing();
    for (const char& byte : bytes) all = all | text({&byte, 1});
    return all;
}
inline Language maybe(const Language& a) { return a | Language::emptyText(); }

// One well-formed UTF-8 character (Unicode, table 3-7) from `least` on, but none of some ASCII ones.
inline Language utf8Character(std::string_view except, unsigned char least) {
    const Language rest = byteIn(0x80, 0xBF);
    Language all = byteIn(0xC2, 0xDF) + rest;
    all = all | (byteIn(0xE0, 0xE0) + byteIn(0xA0, 0xBF) + rest);
    all = all | (byteIn(0xE1, 0xEC) + rest + rest);
    all = all | (byteIn(0xED, 0xED) + byteIn(0x80, 0x9F) + rest);
    all = all | (byteIn(0xEE, 0xEF) + rest + rest);
    all = all | (byteIn(0xF0, 0xF0) + byteIn(0x90, 0xBF) + rest + rest);
    all = all | (byteIn(0xF1, 0xF3) + rest + rest + rest);
    all = all | (byteIn(0xF4, 0xF4) + byteIn(0x80, 0x8F) + rest + rest);
    unsigned first = least;
    for (unsigned c = least; c <= 0x80; c++) {
        if (c < 0x80 && except.find(static_cast<char>(c)) == except.npos) continue;
        if (first < c) all = all | byteIn(static_cast<unsigned char>(first), static_cast<unsigned char>(c - 1));
        first = c + 1;
    }
    return all;
}

}  // namespace axial::llm::test
