// The files of pages/ that an attention page is made of; cmake/write_attention_page.cmake writes the source to this.
#pragma once
#include <string_view>

namespace axial::llm::pages {

extern const std::string_view attentionBody, attentionStyle, attentionScript;
// SHA-256 in base64, for a Content-Security-Policy.
extern const std::string_view attentionStyleHash, attentionScriptHash;

}  // namespace axial::llm::pages
