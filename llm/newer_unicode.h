// Characters that are newer than the Unicode data of the regular expression engine.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace axial::llm {

// PCRE2 10.42 knows Unicode 14; the reference tokenizers know Unicode 16. So that a pattern sees the newer characters
// as what they are, they are replaced, for matching only, by older ones of the same general category and the same
// length in UTF-8: cuts fall on the same bytes. U+180E, which PCRE2 counts as white space and Unicode does not, is
// replaced as well. Nothing if the text has none of them, which is nearly always. The text must be well-formed.
std::optional<std::string> withOlderCharacters(std::string_view text);

}  // namespace axial::llm
