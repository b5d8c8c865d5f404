#include "axial/llm/jinja_template.h"

#include <axial_rust.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "axial/llm/parsed_json-inl.h"
#include "axial/llm/template_markers.h"
#include "axial/llm/unicode.h"
#include "axial/tensor/error.h"

namespace axial::llm {

namespace {
using Json = nlohmann::ordered_json;
using Rewrite = std::function<std::string(std::string_view)>;

constexpr std::uint64_t mostSteps = 10'000'000;  // about a second

const std::uint8_t* bytes(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

std::size_t timeNow(const std::uint8_t* format, std::size_t size, std::uint8_t* to, std::size_t room) noexcept {
    char terminated[256];
    if (size >= sizeof terminated) return 0;
    std::copy_n(format, size, terminated);
    terminated[size] = 0;
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return std::strftime(reinterpret_cast<char*>(to), room, terminated, &local);
}

struct Rendered {
    int failure;  // one of axial_rust.h, or 0
    std::string text;
    std::size_t line;
    std::uint64_t steps;  // that it took, or that it was given if it failed
};

Rendered rendered(const std::string& text, const std::string& variables, std::uint64_t most) {
    AxialText out{};
    std::size_t line = 0;
    std::uint64_t left = most;
    const int failure = axial_template_render(bytes(text), text.size(), bytes(variables), variables.size(), timeNow,
                                              &left, &line, &out);
    const std::unique_ptr<AxialText, void (*)(AxialText*)> owner(&out, [](AxialText* t) { axial_text_free(*t); });
    return {failure, {reinterpret_cast<const char*>(out.bytes), out.size}, line, failure ? most : most - left};
}

[[noreturn]] void fail(const Rendered& rendered) {
    const std::string where = "chat template" + (rendered.line ? ", line " + std::to_string(rendered.line) : "") + ": ";
    switch (rendered.failure) {
        case AXIAL_TEMPLATE_SYNTAX:
            throw UnsupportedError(where + rendered.text +
                                   "; it is not Jinja as it is understood here: choose another with --chat-template");
        case AXIAL_TEMPLATE_FUEL:
            throw UnsupportedError(where + "more than " + std::to_string(mostSteps) +
                                   " steps for these messages: shorten them, or choose another with --chat-template");
        case AXIAL_TEMPLATE_RAISED:
            throw ValueError(where + "the template refuses these messages: " + rendered.text);
        default:
            throw ValueError(where + rendered.text + "; change the messages, or choose another with --chat-template");
    }
}

Json parsed(std::string_view json, const std::string& what) {
    constexpr int deepest = 100;  // the engine takes 128, the messages around it included
    return parsedJson<Json>(
        json, deepest, [&](const std::string& fault) { throw ValueError("chat template: " + what + ": " + fault); });
}

// Which keys of an object are somebody's own words, and rewritten as texts are.
enum class Keys { all, schema, properties };

Json rewritten(const Json& value, const Rewrite& rewrite, Keys keys) {
    if (value.is_string()) return rewrite(value.get_ref<const std::string&>());
    if (value.is_array()) {
        Json list = Json::array();
        for (const Json& part : value) list.push_back(rewritten(part, rewrite, keys));
        return list;
    }
    if (!value.is_object()) return value;
    Json object = Json::object();
    for (const auto& [key, part] : value.items()) {
        if (keys != Keys::schema) {
            object[rewrite(key)] = rewritten(part, rewrite, keys == Keys::all ? Keys::all : Keys::schema);
        } else if (key == "type") {  // templates ask for it
            object[key] = part;
        } else {
            object[key] = rewritten(part, rewrite, key == "properties" ? Keys::properties : Keys::schema);
        }
    }
    return object;
}

Json messageOf(const Message& message, const Rewrite& rewrite) {
    Json json = {{"role", message.role}, {"content", rewrite(message.content)}};
    if (message.thoughts) json["reasoning_content"] = rewrite(*message.thoughts);
    for (const ToolCall& call : message.toolCalls) {
        const Json arguments = parsed(call.arguments, "the arguments of " + call.name);
        const Json function = {{"name", rewrite(call.name)}, {"arguments", rewritten(arguments, rewrite, Keys::all)}};
        json["tool_calls"].push_back({{"type", "function"}, {"function", function}});
    }
    return json;
}

// All variables of the template, as a JSON object.
std::string variablesOf(std::span<const Message> messages, const RenderOptions& options, const TemplateInput& input) {
    const Rewrite rewrite = [&](std::string_view text) {
        const std::string valid = replaceInvalidUtf8(text);
        return input.rewrite ? input.rewrite(valid) : valid;
    };
    Json variables = Json::object();
    if (!options.variables.empty()) {
        variables = rewritten(parsed(options.variables, "the variables"), rewrite, Keys::schema);
        if (!variables.is_object()) throw ValueError("chat template: the variables must be a JSON object");
    }
    variables["messages"] = Json::array();
    for (const Message& message : messages) variables["messages"].push_back(messageOf(message, rewrite));
    variables["tools"] = nullptr;
    for (const std::string& tool : options.tools)
        variables["tools"].push_back(rewritten(parsed(tool, "a tool"), rewrite, Keys::schema));
    variables["documents"] = nullptr;
    variables["add_generation_prompt"] = options.generationPrompt;
    if (options.date) variables["date_string"] = rewrite(*options.date);
    if (!options.thinking) variables["enable_thinking"] = false;
    if (!input.bos.empty()) variables["bos_token"] = input.bos;
    if (!input.eos.empty()) variables["eos_token"] = input.eos;
    return variables.dump();
}

std::string textOf(const Vocabulary& vocabulary, std::optional<TokenId> token) {
    return token ? replaceInvalidUtf8(vocabulary.tokens.bytes(*token)) : std::string();
}

class Interpreted final : public JinjaTemplate {
  public:
    Interpreted(const std::string& text, const Vocabulary& vocabulary)
        : markers_({replaceInvalidUtf8(text), textOf(vocabulary, vocabulary.bos), textOf(vocabulary, vocabulary.eos)},
                   vocabulary) {
        const Rendered tried = rendered(markers_.input().text, "{}", mostSteps);
        if (tried.failure == AXIAL_TEMPLATE_SYNTAX) fail(tried);
    }

    bool thinks() const override { return says("<think>") || says("reasoning_content"); }
    bool canSkipThinking() const override { return says("enable_thinking"); }
    bool knowsTools() const override { return says("tools") || says("tool_calls"); }
    ToolCallForm toolCallForm() const override {
        return says("<tool_call>") && says("arguments") ? ToolCallForm::tagged : ToolCallForm::none;
    }

    std::vector<TextPart> render(std::span<const Message> messages, const RenderOptions& options) const override {
        const std::string variables = variablesOf(messages, options, markers_.input());
        const Rendered plain = rendered(markers_.input().text, variables, mostSteps);
        if (plain.failure) fail(plain);
        std::uint64_t left = mostSteps - plain.steps;
        // With another input it may run elsewhere, but need not be followed far.
        const auto again = [&](const TemplateInput& input) -> std::optional<std::string> {
            const std::uint64_t most = std::min(left, 2 * plain.steps + 1000);
            Rendered other = rendered(input.text, variablesOf(messages, options, input), most);
            left -= other.steps;
            if (left == 0) fail({AXIAL_TEMPLATE_FUEL, "", 0, 0});
            if (other.failure) return std::nullopt;
            return std::move(other.text);
        };
        return markers_.parts(plain.text, variables, again);
    }

  private:
    bool says(std::string_view word) const { return markers_.input().text.find(word) != std::string::npos; }

    TemplateMarkers markers_;
};
}  // namespace

std::shared_ptr<const JinjaTemplate> jinjaTemplate(const std::string& text, const Vocabulary& vocabulary) {
    return std::make_shared<Interpreted>(text, vocabulary);
}

}  // namespace axial::llm
