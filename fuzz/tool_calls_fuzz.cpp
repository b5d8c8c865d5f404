// Any reply, cut anywhere, through the splitter of tool calls. The first byte chooses the form, the second the cut.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "axial/llm/json_text.h"
#include "axial/llm/tool_calls.h"

namespace {

using namespace axial::llm;

void require(bool holds) {
    if (!holds) std::abort();
}

ToolCallSplitter::Parts split(ToolCallForm form, std::string_view reply, std::size_t first, std::size_t then) {
    ToolCallSplitter splitter(form);
    ToolCallSplitter::Parts all;
    const auto add = [&](ToolCallSplitter::Parts more) {
        all.text += more.text;
        std::ranges::move(more.calls, std::back_inserter(all.calls));
        std::ranges::move(more.faults, std::back_inserter(all.faults));
    };
    for (std::size_t size = first; !reply.empty(); size = then) {
        size = std::clamp<std::size_t>(size, 1, reply.size());
        add(splitter.push(reply.substr(0, size)));
        reply.remove_prefix(size);
    }
    add(splitter.finish());
    return all;
}

bool same(const ToolCallSplitter::Parts& a, const ToolCallSplitter::Parts& b) {
    const auto equal = [](const ToolCall& x, const ToolCall& y) {
        return x.name == y.name && x.arguments == y.arguments;
    };
    return a.text == b.text && a.faults == b.faults && std::ranges::equal(a.calls, b.calls, equal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const ToolCallForm form = data[0] % 3 == 0   ? ToolCallForm::tagged
                              : data[0] % 3 == 1 ? ToolCallForm::bare
                                                 : ToolCallForm::none;
    const std::string_view reply(reinterpret_cast<const char*>(data + 2), size - 2);
    const ToolCallSplitter::Parts whole = split(form, reply, reply.size(), 1);
    require(same(whole, split(form, reply, data[1], reply.size())));
    if (reply.size() < 4096) require(same(whole, split(form, reply, 1, 1)));
    // Nothing is lost.
    if (whole.calls.empty()) require(whole.text == reply);
    for (const ToolCall& call : whole.calls) require(spacedJson(call.arguments) == call.arguments);
    return 0;
}
