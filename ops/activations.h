// In which arithmetic the linear layers of a thread compute.
#pragma once
#include <cstdint>

namespace axial {

// int8: where the weight's format has integer codes, each row of activations is rounded to 8-bit codes with one scale
// for every 32 values, and multiplied as integers: exact sums, about 0.5 % off per product. int16: the codes are of
// 16 bits, and again the integer sums are exact: about 0.002 % off, for twice the products of bytes.
// float32: everything is decoded and multiplied in float. Weights stored as F32 always meet float activations, and so
// do F16 and BF16; but where there is AMX for bfloat16, these two meet activations of two bfloat16 numbers, about as
// exact as int16, unless float32 is asked for (split_floats.h).
enum class Activations : std::uint8_t { int8, int16, float32 };

namespace detail {
inline constinit thread_local Activations activations = Activations::int16;
}

// Ops called on this thread use this arithmetic as long as it lives; without one they use int16.
class UseActivations {
  public:
    explicit UseActivations(Activations a) : before_(detail::activations) { detail::activations = a; }
    ~UseActivations() { detail::activations = before_; }
    UseActivations(const UseActivations&) = delete;
    UseActivations& operator=(const UseActivations&) = delete;

  private:
    Activations before_;
};

}  // namespace axial
