// The chat page, as the server gives it.
#pragma once
#include <optional>
#include <string_view>

#include "axial/llm/server/http_message.h"

namespace axial::llm::server {

// What is sent with a page that is to be shown and not to be trusted with more: its Content-Security-Policy, and that
// it is neither guessed at, nor shown in a frame, nor told to whoever it links to.
Headers pageHeaders(std::string_view policy);

// The file of the chat page at this path, which needs no key: what is asked for through it does. None if there is none.
std::optional<HttpReply> pageFileAt(std::string_view path);

}  // namespace axial::llm::server
