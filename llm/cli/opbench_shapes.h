// The shapes that a model file gives the ops.
#pragma once
#include "axial/bench/shapes.h"
#include "axial/llm/model_file.h"

namespace axial::cli {

// Each distinct format and size of a matrix of weights once, named by the first tensor that has it.
bench::Shapes shapesOf(const llm::ModelFile& file);

}  // namespace axial::cli
