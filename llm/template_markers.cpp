#include "axial/llm/template_markers.h"

#include <algorithm>
#include <map>
#include <set>

#include "axial/llm/prompt_writer.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
// Private-use characters (plane 15) that some texts do not have.
class FreeCharacters {
  public:
    void avoid(std::string_view text) {
        for (std::size_t at = 0; at < text.size(); at++) {
            if (text[at] == '\xF3') used_.insert(firstCharacter(text.substr(at)).codePoint);
        }
    }
    std::string take() {
        while (used_.contains(next_)) ++next_;
        constexpr char32_t last = 0xFFFFD;
        if (next_ > last) throw ValueError("chat template: the messages use all private-use characters of plane 15");
        std::string character;
        appendUtf8(character, next_++);
        return character;
    }

  private:
    std::set<char32_t> used_;
    char32_t next_ = 0xF0000;
};

// What stands for something else in a text: all of them are characters of four bytes.
using StandIns = std::map<std::string, std::string, std::less<>>;

StandIns::const_iterator standInAt(const StandIns& standIns, std::string_view text, std::size_t at) {
    return text[at] == '\xF3' ? standIns.find(text.substr(at, 4)) : standIns.end();
}

std::string spelledOut(const StandIns& standIns, std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto found = standInAt(standIns, text, at);
        result += found == standIns.end() ? text.substr(at, 1) : std::string_view(found->second);
        at += found == standIns.end() ? 1 : 4;
    }
    return result;
}

std::vector<std::string> charactersOf(std::string_view text) {
    std::vector<std::string> characters;
    while (!text.empty()) {
        characters.emplace_back(text.substr(0, firstCharacter(text).length));
        text.remove_prefix(characters.back().size());
    }
    return characters;
}
}  // namespace

TemplateMarkers::TemplateMarkers(TemplateInput input, const Vocabulary& vocabulary) : input_(std::move(input)) {
    for (TokenId id = 0; vocabulary.tokens.contains(id); id++) {
        const std::string_view bytes = vocabulary.tokens.bytes(id);
        if (!vocabulary.isMarker(id) || bytes.empty() || !isValidUtf8(bytes)) continue;
        if (bytes.find_first_of(" \t\r\n\"'\\{}") == bytes.npos) markers_.emplace_back(bytes);
    }
    std::sort(markers_.begin(), markers_.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    std::size_t from = 0;
    while (const std::optional<Place> place = next(input_.text, from)) {
        places_.push_back(*place);
        from = place->end;
    }
}

// The first marker at or behind `from`, the longest of those that begin there.
std::optional<TemplateMarkers::Place> TemplateMarkers::next(std::string_view text, std::size_t from) const {
    for (std::size_t at = from; at < text.size(); at++) {
        for (std::size_t i = 0; i < markers_.size(); i++) {
            if (markers_[i].front() == text[at] && text.substr(at).starts_with(markers_[i]))
                return Place{at, at + markers_[i].size(), i};
        }
    }
    return std::nullopt;
}

// One prompt's markers.
class TemplateMarkers::Separation {
  public:
    Separation(const TemplateMarkers& markers, std::string_view plain, std::string_view messages,
               const RenderTemplate& render)
        : markers_(markers), plain_(plain), render_(render) {
        const TemplateInput& input = markers.input_;
        for (const std::string_view text : {plain, messages, std::string_view(input.text)}) free_.avoid(text);
        for (const std::string& text : {input.bos, input.eos}) free_.avoid(text);
    }

    std::vector<TextPart> parts() {
        std::string text = replaceInTemplate();
        const std::set<std::string> composed = replaceInMessages(text);
        PromptWriter writer;
        for (std::size_t at = 0; at < text.size();) {
            const auto mine = standInAt(standIns_, text, at), theirs = standInAt(characters_, text, at);
            if (mine != standIns_.end() || theirs != characters_.end()) {
                mine != standIns_.end() ? writer.markup(mine->second) : writer.content(theirs->second);
                at += 4;
                continue;
            }
            const auto spelled = std::find_if(composed.begin(), composed.end(), [&](const std::string& marker) {
                return std::string_view(text).substr(at).starts_with(marker);
            });
            const std::size_t length = spelled == composed.end() ? 1 : spelled->size();
            const std::string_view piece = std::string_view(text).substr(at, length);
            spelled == composed.end() ? writer.content(piece) : writer.markup(piece);
            at += length;
        }
        return writer.take();
    }

  private:
    std::string standInFor(const std::string& marker) {
        for (const auto& [standIn, original] : standIns_) {
            if (original == marker) return standIn;
        }
        const std::string standIn = free_.take();
        standIns_.emplace(standIn, marker);
        return standIn;
    }

    // The input with stand-ins at the chosen places: those in the text, and then bos_token and eos_token.
    TemplateInput replacedAt(const std::vector<bool>& chosen) {
        const TemplateInput& input = markers_.input_;
        const std::size_t places = markers_.places_.size();
        TemplateInput replaced;
        std::size_t done = 0;
        for (std::size_t i = 0; i < places; i++) {
            const Place& place = markers_.places_[i];
            if (!chosen[i]) continue;
            replaced.text.append(input.text, done, place.begin - done);
            replaced.text += standInFor(markers_.markers_[place.marker]);
            done = place.end;
        }
        replaced.text.append(input.text, done);
        const auto variable = [&](const std::string& value, bool replace) {
            const std::vector<std::string>& all = markers_.markers_;
            return replace && std::find(all.begin(), all.end(), value) != all.end() ? standInFor(value) : value;
        };
        replaced.bos = variable(input.bos, chosen[places]);
        replaced.eos = variable(input.eos, chosen[places + 1]);
        return replaced;
    }

    bool agrees(const std::vector<bool>& chosen) {
        TemplateInput input = replacedAt(chosen);
        std::optional<std::string> text = render_(input);
        if (!text || spelledOut(standIns_, *text) != plain_) return false;
        input_ = std::move(input);
        text_ = std::move(*text);
        return true;
    }

    // Chooses as many of the places from `first` to `last` as agree, besides those that are chosen already.
    void choose(std::vector<bool>& chosen, std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; i++) chosen[i] = true;
        if (agrees(chosen)) return;
        for (std::size_t i = first; i < last; i++) chosen[i] = false;
        if (last - first == 1) return;
        const std::size_t middle = first + (last - first) / 2;
        choose(chosen, first, middle);
        choose(chosen, middle, last);
    }

    // The output with stand-ins for all markers of the template that can have one.
    std::string replaceInTemplate() {
        input_ = markers_.input_;
        text_ = plain_;
        std::vector<bool> chosen(markers_.places_.size() + 2, false);
        choose(chosen, 0, chosen.size());
        return text_;
    }

    // Replaces the characters of the markers that `text` still spells in the messages, and `text` by the output then.
    // Returns those of these markers that are the template's where they are still spelled.
    std::set<std::string> replaceInMessages(std::string& text) {
        std::set<std::string> left;
        std::size_t from = 0;
        while (const std::optional<Place> place = markers_.next(text, from)) {
            left.insert(markers_.markers_[place->marker]);
            from = place->end;
        }
        if (left.empty()) return left;
        std::map<std::string, std::string, std::less<>> replacement;
        for (const std::string& marker : left) {
            for (const std::string& character : charactersOf(marker)) {
                if (replacement.contains(character)) continue;
                replacement[character] = free_.take();
                characters_.emplace(replacement[character], character);
            }
        }
        input_.rewrite = [&](std::string_view message) {
            std::string replaced;
            for (const std::string& character : charactersOf(message)) {
                const auto found = replacement.find(character);
                replaced += found == replacement.end() ? character : found->second;
            }
            return replaced;
        };
        const std::optional<std::string> output = render_(input_);
        if (!output || spelledOut(characters_, *output) != text) return {};
        text = *output;
        return left;
    }

    const TemplateMarkers& markers_;
    const std::string_view plain_;
    const RenderTemplate& render_;
    FreeCharacters free_;
    StandIns standIns_;    // for markers
    StandIns characters_;  // for characters of messages
    TemplateInput input_;  // what has last agreed,
    std::string text_;     // and its output
};

std::vector<TextPart> TemplateMarkers::parts(std::string_view plain, std::string_view messages,
                                             const RenderTemplate& render) const {
    return Separation(*this, plain, messages, render).parts();
}

}  // namespace axial::llm
