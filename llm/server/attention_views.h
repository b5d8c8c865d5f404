// Attention of a live conversation to look at: pages that are drawn when asked for, and kept for a while.
#pragma once
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "axial/llm/server/http_message.h"

namespace axial::llm::server {

struct ServedModel;

class AttentionViews {
  public:
    // So many pages are kept, those drawn last.
    static constexpr std::size_t most = 8;

    // POST /attention, {"messages": [...]}: reads the conversation anew, on this thread, beside whatever else is
    // generated, and draws the page (attention_page.h). The reply, {"url": "/attention/ID"}, tells where it is; the
    // ID cannot be guessed, so the page itself needs no key. ApiError 400 for a conversation that cannot be rendered or
    // is too long to be drawn; 429 while another is drawn.
    HttpReply draw(std::string_view body, const ServedModel& model);
    // GET /attention/ID. ApiError 404 if it is not kept any more.
    HttpReply show(std::string_view path) const;

  private:
    std::mutex drawing_;
    mutable std::mutex mutex_;
    std::deque<std::pair<std::string, std::string>> pages_;  // paths and pages; guarded by mutex_
};

}  // namespace axial::llm::server
