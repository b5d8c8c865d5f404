// Values as they are computed, a line an op.
#pragma once
#include <iosfwd>

#include "axial/tensor/observe.h"

namespace axial {

// Prints, for each op that runs while a Watch installs it, the scope, the op, the result's axes and its first values:
//
//   layer 0/attention  rmsNormMul  [seq=1, embed=16]  0.65 0.264 0.242 -0.005 ...
class Tracer : public Observer {
  public:
    explicit Tracer(std::ostream& out, std::size_t values = 4) : out_(out), values_(values) {}
    void onOp(const OpEvent&) override;

  private:
    std::ostream& out_;
    std::size_t values_;
};

}  // namespace axial
