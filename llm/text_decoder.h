// Tokens to text piece by piece, whoever does it.
#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "axial/llm/token.h"

namespace axial::llm {

// Turns tokens into text piece by piece, as StreamDecoder (stream_decoder.h) does.
template <class D>
concept TextDecoder = requires(D& decoder, TokenId token) {
    { decoder.push(token) } -> std::convertible_to<std::string>;
    { decoder.finish() } -> std::convertible_to<std::string>;
};

// Any of them, so that replies with different decoders can stand in one list.
class AnyTextDecoder {
  public:
    template <TextDecoder D>
        requires(!std::same_as<std::remove_cvref_t<D>, AnyTextDecoder>)
    AnyTextDecoder(D decoder) : decoder_(std::make_unique<Holder<D>>(std::move(decoder))) {}

    std::string push(TokenId token) { return decoder_->push(token); }
    std::string finish() { return decoder_->finish(); }

  private:
    struct Interface {
        virtual ~Interface() = default;
        virtual std::string push(TokenId token) = 0;
        virtual std::string finish() = 0;
    };
    template <class D>
    struct Holder final : Interface {
        explicit Holder(D d) : decoder(std::move(d)) {}
        std::string push(TokenId token) override { return decoder.push(token); }
        std::string finish() override { return decoder.finish(); }
        D decoder;
    };
    std::unique_ptr<Interface> decoder_;
};

}  // namespace axial::llm
