#include "axial/tensor/tracer.h"

#include <ostream>

#include "axial/tensor/print.h"

namespace axial {

void Tracer::onOp(const OpEvent& e) {
    out_ << e.scope << (e.scope.empty() ? "" : "  ") << e.op << "  " << describe(e.out) << "  "
         << firstValues(e.out, values_) << '\n';
}

}  // namespace axial
