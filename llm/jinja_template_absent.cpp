// For builds without the Rust component (cmake/rust.cmake).
#include "axial/llm/jinja_template.h"

namespace axial::llm {

std::shared_ptr<const JinjaTemplate> jinjaTemplate(const std::string&, const Vocabulary&) { return nullptr; }

}  // namespace axial::llm
