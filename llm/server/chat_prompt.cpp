#include <algorithm>
#include <array>

#include "axial/llm/chat_messages.h"
#include "axial/llm/server/chat_prompt-inl.h"
#include "axial/llm/thinking.h"

namespace axial::llm::server {
namespace {

// Null where there is none, or `object` is none.
const Json* member(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

// What the API wants and the template does not check; developer is the newer name of system.
Json checkedMessages(const Json& messages) {
    const std::string name = "messages";
    if (!messages.is_array() || messages.empty()) refuse("messages must be a list with at least one message", name);
    Json checked = messages;
    std::size_t number = 0;
    for (Json& message : checked) {
        const std::string which = name + "[" + std::to_string(number++) + "]";
        if (!message.is_object()) refuse(which + " must be an object", which);
        const auto role = message.find("role");
        if (role == message.end() || !role->is_string()) refuse(which + ".role must be a string", which + ".role");
        if (*role == "developer") *role = "system";
        constexpr std::array roles{"system", "user", "assistant", "tool"};
        if (std::ranges::find(roles, role->get_ref<const std::string&>()) == roles.end())
            refuse(which + ".role must be system, developer, user, assistant or tool", which + ".role");
        const auto given = [&](const char* key) {
            const auto found = message.find(key);
            return found != message.end() && !found->is_null();
        };
        if (!given("content") && !(*role == "assistant" && (given("tool_calls") || given("reasoning_content"))))
            refuse(which + ".content is missing", which + ".content");
        if (*role == "assistant" && given("refusal") && !given("content")) message["content"] = message["refusal"];
    }
    return checked;
}

// {"type": "function", "name": ...}, as the Responses API has it, with an object "function" as chat completions have
// it.
Json wrapped(const Json& named) {
    const Json* type = member(named, "type");
    if (!type || *type != "function" || member(named, "function") || !member(named, "name")) return named;
    Json function = named;
    function.erase("type");
    return {{"type", "function"}, {"function", std::move(function)}};
}

void checkTool(const Json& tool, std::size_t number) {
    const std::string which = "tools[" + std::to_string(number) + "]";
    if (!tool.is_object()) refuse(which + " must be an object", which);
    if (const auto type = tool.find("type"); type == tool.end() || *type != "function")
        refuse(which + ".type must be \"function\"", which + ".type");
    const auto function = tool.find("function");
    if (function == tool.end() || !function->is_object()) refuse(which + ".function must be an object", which);
    const auto name = function->find("name");
    if (name == function->end() || !name->is_string() || name->get_ref<const std::string&>().empty())
        refuse(which + ".function.name must be a string", which + ".function.name");
    const auto parameters = function->find("parameters");
    if (parameters != function->end() && !parameters->is_object() && !parameters->is_null())
        refuse(which + ".function.parameters must be a JSON schema", which + ".function.parameters");
}

}  // namespace

ToolUse readTools(const RequestBody& body) {
    ToolUse use;
    if (const Json* tools = body.find("tools"))
        for (const Json& tool : *tools) {
            use.tools.push_back(wrapped(tool));
            checkTool(use.tools.back(), use.tools.size() - 1);
        }
    use.parallel = body.boolean("parallel_tool_calls").value_or(true);
    const Json* choice = body.find("tool_choice");
    if (!choice) return use;
    const std::string name = "tool_choice";
    if (*choice == "none") {
        use.choice = ToolUse::Choice::none;
    } else if (*choice == "required") {
        use.choice = ToolUse::Choice::required;
    } else if (choice->is_object()) {
        const Json whole = wrapped(*choice);
        const Json* type = member(whole, "type");
        const Json* function = member(whole, "function");
        const Json* called = function ? member(*function, "name") : nullptr;
        if (!type || *type != "function" || !called || !called->is_string())
            refuse("tool_choice must be {\"type\": \"function\", \"function\": {\"name\": ...}}", name);
        use.choice = ToolUse::Choice::required;
        use.named = called->get<std::string>();
        if (std::ranges::none_of(use.tools, [&](const Json& tool) { return tool["function"]["name"] == use.named; }))
            refuse("tool_choice names a function that is not among the tools", name);
    } else if (*choice != "auto") {
        refuse("tool_choice must be none, auto, required, or name a function", name);
    }
    if (use.choice == ToolUse::Choice::required && use.tools.empty())
        refuse("tool_choice asks for a call, but there are no tools", name);
    return use;
}

OutputFormat readFormat(const Json* format, const std::string& parameter) {
    OutputFormat output{{}, parameter};
    if (!format) return output;
    if (!format->is_object()) refuse(parameter + " must be an object", parameter);
    const auto type = format->find("type");
    if (type == format->end()) refuse(parameter + ".type is missing", parameter + ".type");
    if (*type == "text") return output;
    if (*type == "json_object") {
        output.schema = Json{{"type", "object"}};
        return output;
    }
    if (*type != "json_schema")
        refuse(parameter + ".type must be text, json_object or json_schema", parameter + ".type");
    const auto wrapped = format->find("json_schema");
    const Json& holder = wrapped == format->end() ? *format : *wrapped;
    const auto schema = holder.is_object() ? holder.find("schema") : holder.end();
    if (!holder.is_object() || schema == holder.end() || !(schema->is_object() || schema->is_boolean()))
        refuse(parameter + " has no schema", parameter + ".schema");
    output.schema = *schema;
    return output;
}

Reasoning readReasoning(const RequestBody& body, const std::optional<std::string>& effort, const ServedModel& model) {
    Reasoning reasoning;
    std::string said;
    if (effort) {
        constexpr std::array off{"none", "minimal"};
        constexpr std::array on{"low", "medium", "high", "xhigh", "max"};
        said = "reasoning_effort";
        if (std::ranges::find(off, *effort) != off.end())
            reasoning.wanted = false;
        else if (std::ranges::find(on, *effort) == on.end())
            refuse("reasoning_effort must be none, minimal, low, medium, high or xhigh", said);
    }
    if (const Json* variables = body.find("chat_template_kwargs")) {
        reasoning.variables = dumped(*variables);
        if (const auto thinking = variables->find("enable_thinking"); thinking != variables->end()) {
            said = "chat_template_kwargs";
            if (!thinking->is_boolean()) refuse("enable_thinking must be true or false", said);
            reasoning.wanted = thinking->get<bool>();
        }
    }
    if (const auto thinking = body.boolean("enable_thinking")) {
        said = "enable_thinking";
        reasoning.wanted = *thinking;
    }
    if (!reasoning.wanted && model.chat && model.chat->thinks() && !model.chat->canSkipThinking())
        refuse("the model always thinks first; " + said + " cannot change that", said);
    return reasoning;
}

ChatPrompt renderChat(const ServedModel& model, const Json& messages, const ToolUse& tools, const Reasoning& reasoning,
                      bool generationPrompt) {
    if (!model.chat) throw ApiError(400, model.noChat, {}, "no_chat_template");
    ChatPrompt prompt;
    RenderOptions options{.generationPrompt = generationPrompt, .thinking = reasoning.wanted};
    options.variables = reasoning.variables;
    if (tools.choice != ToolUse::Choice::none)
        for (const Json& tool : tools.tools) options.tools.push_back(dumped(tool));
    try {
        prompt.parts = model.chat->render(messagesFromJson(dumped(checkedMessages(messages))), options);
    } catch (const UnsupportedError& error) {
        refuse(error.what(), options.tools.empty() ? "messages" : "tools");
    } catch (const ValueError& error) {
        refuse(error.what(), "messages");
    }
    prompt.thinks = model.chat->thinks() && reasoning.wanted;
    prompt.thoughtsOpened = opensThoughts(prompt.parts);
    if (!options.tools.empty()) prompt.toolForm = model.chat->toolCallForm();
    return prompt;
}

}  // namespace axial::llm::server
