// Which markers in a prompt are the chat template's own, and which are only text of a message.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/tokenizer.h"

namespace axial::llm {

// What a template is rendered from.
struct TemplateInput {
    std::string text;
    std::string bos, eos;  // what bos_token and eos_token say
    // What becomes of every text of messages, tools and variables before the template sees it; may be empty.
    std::function<std::string(std::string_view)> rewrite = {};
};
// Renders; nothing where that fails.
using RenderTemplate = std::function<std::optional<std::string>(const TemplateInput&)>;

// A template is a program that writes one text, and nothing in that text tells its own <|im_end|> from one that stood
// in a message. Two changes of the input that do not change the output tell them apart:
//
// 1. Each marker that the template's text spells (and bos_token and eos_token) is replaced by a stand-in: a private-use
//    character that neither template nor messages have. If the output is the same but for the stand-ins, each of them
//    in it is a marker that the template has written, and no message can contain one. Markers that a template compares
//    instead of writing them (Qwen3 looks for </think> in messages) change the output when replaced; they are found by
//    trying, half by half, and stay as they are.
// 2. If the output still spells markers, the template may have composed them ('<|' + role + '|>'). All characters of
//    these markers are replaced in the messages by other private-use characters. If nothing else changes, a marker that
//    the output still spells has no part that comes from a message.
//
// What neither shows to be the template's is text. So a message never becomes a marker, whatever the template does with
// it; a marker is lost only where a template composes it and, in the same prompt, what a message says changes its
// course.
class TemplateMarkers {
  public:
    // Markers with white space, quotes, backslashes or braces are always text: they cannot be replaced in a template.
    TemplateMarkers(TemplateInput input, const Vocabulary& vocabulary);

    const TemplateInput& input() const { return input_; }

    // Cuts `plain`, which is what the template makes of some messages, into markers of the template, to be parsed, and
    // all else, which is text. `render` renders the same messages from a changed input; `messages` holds all their
    // texts, in any form.
    std::vector<TextPart> parts(std::string_view plain, std::string_view messages, const RenderTemplate& render) const;

  private:
    struct Place {
        std::size_t begin, end, marker;
    };
    class Separation;
    std::optional<Place> next(std::string_view text, std::size_t from) const;

    TemplateInput input_;
    std::vector<std::string> markers_;  // longest first
    std::vector<Place> places_;         // of markers in the template's text
};

}  // namespace axial::llm
