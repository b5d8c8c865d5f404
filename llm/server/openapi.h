// The API's own description, made of the table of parameters.
#pragma once
#include <string>

namespace axial::llm::server {

// An OpenAPI 3.1 document, as JSON.
std::string openApi();

}  // namespace axial::llm::server
