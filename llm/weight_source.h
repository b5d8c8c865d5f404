// Where a model's weights come from: stored tensors by the file's name for them, and which of them nobody has asked
// for.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "axial/llm/model_file.h"
#include "axial/tensor/ref.h"

namespace axial::llm {

// The extents that a model gives its axes, by name.
class AxisSizes {
  public:
    AxisSizes(std::initializer_list<std::pair<std::string_view, std::size_t>> sizes) : sizes_(sizes) {}
    // Throws ValueError for an axis that has none.
    std::size_t of(std::string_view axis) const;

  private:
    std::vector<std::pair<std::string_view, std::size_t>> sizes_;
};

class WeightSource {
  public:
    explicit WeightSource(ModelFile file) : file_(std::move(file)) {}

    // The tensor of that name, or nullptr; it counts as used.
    const StoredTensor* find(const std::string& name);
    // The same; FileError if the file lacks it.
    const StoredTensor& require(const std::string& name);
    // Names of tensors that nobody has asked for: a sign that the family is not the file's.
    std::vector<std::string> unused() const;
    // FileError unless the wanted axes, grouped in their order, multiply to the stored extents:
    // [head=16, channel=128, embed=1024] fits [2048, 1024]. The text gives both. UnsupportedError for integers.
    void check(const StoredTensor& stored, const TensorRef& wanted) const;

  private:
    ModelFile file_;
    std::set<std::string, std::less<>> used_;
};

}  // namespace axial::llm
