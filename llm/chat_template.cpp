#include "axial/llm/chat_template.h"

#include <algorithm>
#include <cstdio>

#include "axial/llm/chat_forms.h"
#include "axial/llm/fnv1a.h"
#include "axial/llm/jinja_template.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

struct ChatTemplate::Form {
    std::string_view name;
    std::span<const std::string_view> markers;  // that the vocabulary must have
    void (*render)(PromptWriter&, const ChatRequest&);
    bool thinks = false, canSkipThinking = false;
    ToolCallForm calls = ToolCallForm::none;
    std::optional<std::string_view> system = std::nullopt;
    std::string_view bos = {};
};

namespace {
// Templates differ in what makes no difference: a line feed in a string is spelled \n or is one, and there may be a few
// at the end, or before a first tag that removes them.
std::string unified(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
            result += '\n';
            i++;
        } else {
            result += text[i];
        }
    }
    result.erase(result.find_last_not_of(" \n") + 1);
    const std::size_t first = result.find_first_not_of(" \n");
    if (first != result.npos && result.compare(first, 3, "{%-") == 0) result.erase(0, first);
    return result;
}

// Long templates, by the fingerprint of their unified text.
struct KnownText {
    std::uint64_t fingerprint;
    std::string_view form;
};
constexpr KnownText knownTexts[] = {
    {0xABB815B933A4981A, "qwen3"},           // Qwen3, April 2025
    {0xCE57E9E6F63A81B2, "qwen3"},           // the same, as Unsloth spells it
    {0xF12683DB822F0EDD, "qwen3-thinking"},  // Qwen3 Thinking 2507
    {0x813D46D87D74A5C1, "qwen3-instruct"},  // Qwen3 Instruct 2507
    {0x11D394755CEF9355, "qwen2.5"},         // Qwen2.5 Instruct
    {0x0E60067A5537498E, "llama3"},          // Llama 3 Instruct
    {0x74891E390E614AE2, "llama3-first"},    // the same, April 2024
    {0x4FD30286BC0DA17C, "llama3.1"},        // Llama 3.1 and Llama 3.3 Instruct
    {0x1A6DA26E3AEF1B34, "llama3.2"},        // Llama 3.2 Instruct
    {0x5C10EE65212D93B3, "gemma2"},          // Gemma 1 and Gemma 2
    {0xD19B6FF3A49DEEA5, "gemma3"},          // Gemma 3
    {0x5E86A815DAEAA1A5, "gemma3"},          // the same, March 2025: a system message only as a list of parts
};

// Short ones: `before` and `behind`, and between them nothing, or the template's own system message in its place.
struct KnownShape {
    std::string_view before, system, behindSystem, behind;
};
constexpr KnownShape knownShapes[] = {
    // Qwen1.5, Qwen2, SmolLM2 and many others.
    {"{% for message in messages %}", "{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n",
     "<|im_end|>\n' }}{% endif %}",
     "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"},
    // The library transformers' of 2023.
    {"{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
     "{% for message in messages %}",
     "", "",
     "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"},
    // Unsloth's.
    {"{% for message in messages %}{% if message['role'] == 'user' %}{{'<|im_start|>user\n' + message['content'] + "
     "'<|im_end|>\n'}}{% elif message['role'] == 'assistant' %}{{'<|im_start|>assistant\n' + message['content'] + "
     "'<|im_end|>\n' }}{% else %}",
     "", "",
     "{{ '<|im_start|>system\n' + message['content'] + '<|im_end|>\n' }}{% endif %}{% endfor %}"
     "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"},
    {"{% for m in messages %}", "", "",
     "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
     "<|im_start|>assistant\n{% endif %}"},
};

// Whether the text has the shape, and the system message in it.
bool hasShape(std::string_view text, const KnownShape& shape, std::optional<std::string>& system) {
    if (!text.starts_with(shape.before) || !text.ends_with(shape.behind)) return false;
    if (text.size() < shape.before.size() + shape.behind.size()) return false;
    text.remove_prefix(shape.before.size());
    text.remove_suffix(shape.behind.size());
    if (text.empty()) return true;
    if (shape.system.empty() || !text.starts_with(shape.system) || !text.ends_with(shape.behindSystem)) return false;
    if (text.size() < shape.system.size() + shape.behindSystem.size()) return false;
    text.remove_prefix(shape.system.size());
    text.remove_suffix(shape.behindSystem.size());
    // A quote or a backslash would end or change the string that it is in.
    if (text.find_first_of("'\\") != text.npos) return false;
    system = text;
    return true;
}

constexpr std::string_view chatmlMarkers[] = {"<|im_start|>", "<|im_end|>"};
constexpr std::string_view llamaMarkers[] = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"};
constexpr std::string_view gemmaMarkers[] = {"<start_of_turn>", "<end_of_turn>"};
}  // namespace

std::span<const ChatTemplate::Form> ChatTemplate::forms() {
    constexpr ToolCallForm tagged = ToolCallForm::tagged, bare = ToolCallForm::bare;
    constexpr std::string_view llamaBos = "<|begin_of_text|>", gemmaBos = "<bos>";
    static constexpr Form all[] = {
        {.name = "qwen3",
         .markers = chatmlMarkers,
         .render = renderQwen3,
         .thinks = true,
         .canSkipThinking = true,
         .calls = tagged},
        {.name = "qwen3-thinking",
         .markers = chatmlMarkers,
         .render = renderQwen3Thinking,
         .thinks = true,
         .calls = tagged},
        {.name = "qwen3-instruct", .markers = chatmlMarkers, .render = renderQwen3Instruct, .calls = tagged},
        {.name = "qwen2.5",
         .markers = chatmlMarkers,
         .render = renderQwen25,
         .calls = tagged,
         .system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."},
        {.name = "chatml", .markers = chatmlMarkers, .render = renderChatml},
        {.name = "llama3", .markers = llamaMarkers, .render = renderLlama3, .bos = llamaBos},
        {.name = "llama3-first", .markers = llamaMarkers, .render = renderLlama3First, .bos = llamaBos},
        {.name = "llama3.1", .markers = llamaMarkers, .render = renderLlama31, .calls = bare, .bos = llamaBos},
        {.name = "llama3.2", .markers = llamaMarkers, .render = renderLlama32, .calls = bare, .bos = llamaBos},
        {.name = "gemma2", .markers = gemmaMarkers, .render = renderGemma2, .bos = gemmaBos},
        {.name = "gemma3", .markers = gemmaMarkers, .render = renderGemma3, .bos = gemmaBos},
    };
    return all;
}

std::string ChatTemplate::names() {
    std::string names;
    for (const Form& form : forms()) names += (names.empty() ? "" : ", ") + std::string(form.name);
    return names;
}

ChatTemplate::ChatTemplate(std::string_view name) {
    for (const Form& form : forms()) {
        if (form.name == name) form_ = &form;
    }
    if (!form_) {
        throw UnsupportedError("chat template: there is none called " + std::string(name) + "; choose one of " +
                               names());
    }
    if (form_->system) system_ = *form_->system;
    bos_ = form_->bos;
}

ChatTemplate ChatTemplate::ofText(std::string_view text) {
    const std::string one = unified(text);
    const std::uint64_t hash = Fnv1a().add(one).value();
    for (const KnownText& known : knownTexts) {
        if (known.fingerprint == hash) return ChatTemplate(known.form);
    }
    ChatTemplate chatml("chatml");
    for (const KnownShape& shape : knownShapes) {
        if (hasShape(one, shape, chatml.system_)) return chatml;
    }
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    throw UnsupportedError("chat template: the file's is not known (" + std::to_string(text.size()) +
                           " bytes, fingerprint " + hex + ", beginning \"" +
                           replaceInvalidUtf8(one.substr(0, std::min<std::size_t>(60, one.find('\n')))) +
                           "\"); choose one that writes the same: " + names());
}

ChatTemplate ChatTemplate::ofFile(const Vocabulary& vocabulary) {
    try {
        return ofText(*vocabulary.chatTemplate);
    } catch (const UnsupportedError& unknown) {
        ChatTemplate chat;
        chat.interpreted_ = jinjaTemplate(*vocabulary.chatTemplate, vocabulary);
        if (chat.interpreted_) return chat;
        throw UnsupportedError(unknown.what() + std::string("; or build axial where cargo and rustc 1.87 are: it then "
                                                            "interprets any template"));
    }
}

std::string_view ChatTemplate::name() const { return interpreted_ ? "the file's own" : form_->name; }
bool ChatTemplate::thinks() const { return interpreted_ ? interpreted_->thinks() : form_->thinks; }
bool ChatTemplate::canSkipThinking() const {
    return interpreted_ ? interpreted_->canSkipThinking() : form_->canSkipThinking;
}
ToolCallForm ChatTemplate::toolCallForm() const { return interpreted_ ? interpreted_->toolCallForm() : form_->calls; }

std::vector<TextPart> ChatTemplate::render(std::span<const Message> messages, const RenderOptions& options) const {
    if (messages.empty()) throw ValueError("chat template: there are no messages");
    bool calls = !options.tools.empty();
    for (const Message& message : messages) {
        const std::string& role = message.role;
        if (role != "system" && role != "user" && role != "assistant" && role != "tool") {
            throw ValueError("chat template: the role " + role + " is none of system, user, assistant and tool");
        }
        calls = calls || !message.toolCalls.empty() || role == "tool";
    }
    const bool knowsTools = interpreted_ ? interpreted_->knowsTools() : form_->calls != ToolCallForm::none;
    if (calls && !knowsTools) {
        throw UnsupportedError("chat template: " + std::string(name()) +
                               " has no place for tools; leave them out, or choose a template of a model that was "
                               "trained to call them");
    }
    if (interpreted_) return interpreted_->render(messages, options);
    PromptWriter writer;
    form_->render(writer, {messages, options, system_, bos_});
    return writer.take();
}

void ChatTemplate::checkMarkers(const Vocabulary& vocabulary) const {
    for (const std::string_view marker : form_->markers) {
        if (vocabulary.marker(marker)) continue;
        throw UnsupportedError("chat template: " + vocabulary.source + " has no token " + std::string(marker) +
                               ", which " + std::string(name()) + " needs");
    }
}

ChatTemplate chatTemplateOf(const Vocabulary& vocabulary, const std::optional<std::string>& name) {
    if (!name && !vocabulary.chatTemplate && !vocabulary.marker("<|im_start|>")) {
        throw UnsupportedError(
            "chat template: " + vocabulary.source +
            " has none, and no ChatML tokens: it is no chat model; generate continues a text instead");
    }
    ChatTemplate chosen = name                      ? ChatTemplate(*name)
                          : vocabulary.chatTemplate ? ChatTemplate::ofFile(vocabulary)
                                                    : ChatTemplate("chatml");
    if (chosen.interpreted_) return chosen;
    chosen.checkMarkers(vocabulary);
    chosen.bos_ = vocabulary.bos ? vocabulary.tokens.bytes(*vocabulary.bos) : std::string_view();
    return chosen;
}

}  // namespace axial::llm
