// Grammars of required tools and of response_format.
#include "axial/llm/grammar.h"
#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/think_first.h"

namespace axial::llm::server {
namespace {

// Without white space that goes on and on, and spelled as Python's json.dumps does (an extension of llguidance).
Json spelled(Json schema) {
    if (schema.is_object())
        schema["x-guidance"] = {{"whitespace_flexible", false}, {"item_separator", ", "}, {"key_separator", ": "}};
    return schema;
}

// One call of one of the functions: {"name": ..., "arguments": {...}}.
Json callSchema(const ToolUse& tools, ToolCallForm form) {
    const char* arguments = form == ToolCallForm::bare ? "parameters" : "arguments";
    Json calls = Json::array();
    for (const Json& tool : tools.tools) {
        const Json& function = tool["function"];
        if (!tools.named.empty() && function["name"] != tools.named) continue;
        const auto parameters = function.find("parameters");
        const bool given = parameters != function.end() && parameters->is_object() && !parameters->empty();
        calls.push_back(
            {{"type", "object"},
             {"properties",
              {{"name", {{"const", function["name"]}}}, {arguments, given ? *parameters : Json{{"type", "object"}}}}},
             {"required", {"name", arguments}},
             {"additionalProperties", false}});
    }
    return calls.size() == 1 ? calls[0] : Json{{"anyOf", calls}};
}

// In the syntax of Lark as llguidance has it: %json is a rule made of a schema, <name> a marker.
std::string grammarOf(const ServedModel& model, const ToolUse& tools, ToolCallForm form, const OutputFormat& format) {
    std::string start, rules;
    if (tools.choice == ToolUse::Choice::required || form != ToolCallForm::none) {
        const bool bare = form == ToolCallForm::bare;
        const auto tag = [&](const std::string& text) {
            return model.tokenizer().vocabulary().marker(text) ? text : "\"" + text + "\"";
        };
        rules += "call: " + (bare ? "body" : tag("<tool_call>") + " \"\\n\" body \"\\n\" " + tag("</tool_call>")) +
                 "\nbody: %json " + dumped(spelled(callSchema(tools, form))) + "\n";
        start = tools.parallel && !bare ? "call (\"\\n\" call)*" : "call";
    }
    if (format.schema && tools.choice != ToolUse::Choice::required) {
        rules += "answer: %json " + dumped(spelled(*format.schema)) + "\n";
        start += (start.empty() ? "answer" : " | answer");
    }
    return "start: " + start + "\n" + rules;
}

}  // namespace

std::vector<std::unique_ptr<LogitProcessor>> structureFor(const ServedModel& model, const ChatPrompt& prompt,
                                                          const ToolUse& tools, const OutputFormat& format) {
    const bool calls = tools.choice == ToolUse::Choice::required;
    std::vector<std::unique_ptr<LogitProcessor>> processors;
    if (!calls && !format.schema) return processors;
    const std::string parameter = calls ? "tool_choice" : format.parameter;
    if (!hasGrammars())
        throw ApiError(501, parameter + " needs grammars, and this server was built without them (its Rust component)",
                       parameter, "not_implemented");
    if (calls && prompt.toolForm == ToolCallForm::none)
        refuse("the model's chat template does not say how tools are called", parameter);
    std::unique_ptr<LogitProcessor> grammar;
    try {
        const std::shared_ptr<const Tokenizer>& tokenizer = model.loaded.tokenizer;
        grammar = calls || prompt.toolForm != ToolCallForm::none
                      ? makeGrammar(tokenizer, GrammarKind::lark, grammarOf(model, tools, prompt.toolForm, format))
                      : makeGrammar(tokenizer, GrammarKind::jsonSchema, dumped(spelled(*format.schema)));
    } catch (const Error& error) {
        refuse(error.what(), parameter, "unsupported_schema");
    }
    const bool marked = model.tokenizer().vocabulary().marker("<think>").has_value();
    if (prompt.thoughtsOpened || (prompt.thinks && marked))
        grammar = std::make_unique<ThinkFirst>(model.loaded.tokenizer, std::move(grammar), prompt.thoughtsOpened);
    processors.push_back(std::move(grammar));
    return processors;
}

}  // namespace axial::llm::server
