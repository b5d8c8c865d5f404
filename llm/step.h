// Rows that go through a model's blocks together: a stretch of tokens of each of some conversations, one behind another
// along seq. All ops treat a row by itself, so what a conversation gets does not depend on the others; only attention
// needs to know whose row is whose.
#pragma once
#include <functional>
#include <initializer_list>
#include <vector>

#include "axial/llm/kv_cache.h"
#include "axial/ops/rope_table.h"
#include "axial/ops/structure.h"
#include "axial/tensor/observe.h"

namespace axial::llm {

// The residual stream: what flows from block to block.
using Stream = Tensor<float, seq, embed>;

// The next `rows` tokens of a conversation; the logits of the last `asked` of them are wanted.
struct Stretch {
    KvCache& cache;
    std::size_t rows, asked;
};

class Step {
  public:
    // `stretches` is not empty; rope(i) are the angles of the position of row i.
    Step(std::vector<Stretch> stretches, RopeTable angles);

    const RopeTable rope;
    std::size_t rows() const { return rows_; }
    std::size_t asked() const { return asked_; }

    // The position, in its conversation, of row `row` of a stream: of all rows, or, behind the last layer's attention,
    // of those asked for.
    std::size_t positionOf(std::size_t row, std::size_t streamRows) const;

    // Appends each conversation's keys and values [seq, kvHead, channel] to its cache, and gives
    //   attention(queries [seq, head, channel], keys [kvHead, key, channel], values) -> [seq, head, channel]
    // of each conversation's queries and all of its keys, one behind another again. Behind the last layer only the rows
    // whose logits are asked for matter: there the other queries are left out, and the stream is cut to the same rows.
    template <class Attention>
    Tensor<float, seq, head, channel> attend(std::size_t layer, Stream& x, const Tensor<float, seq, head, channel>& q,
                                             const Tensor<float, seq, kvHead, channel>& k,
                                             const Tensor<float, seq, kvHead, channel>& v,
                                             const Attention& attention) const {
        named("q", q), named("k", k), named("v", v);
        const bool all = layer + 1 != stretches_.front().cache.layers() || asked_ == rows_;
        if (stretches_.size() == 1 && all) {
            const auto [keys, values] = stretches_.front().cache.append(layer, k, v);
            return named("attn_heads", attention(q, keys, values));
        }
        auto mixed = uninitialized<float>(seq(all ? rows_ : asked_), head(q.extent(head)), channel(q.extent(channel)));
        const auto one = [&](const Stretch& stretch, std::size_t from, std::size_t to) {
            const auto [keys, values] =
                stretch.cache.append(layer, k.narrow(seq, from, stretch.rows), v.narrow(seq, from, stretch.rows));
            const std::size_t count = all ? stretch.rows : stretch.asked, first = from + stretch.rows - count;
            if (count != 0)
                copy(attention(q.narrow(seq, first, count), keys, values), mixed.edit().narrow(seq, to, count));
        };
        forEachStretch(all, one, {&q.ref(), &k.ref(), &v.ref()}, mixed.ref());
        if (!all) x = askedRows(x);
        return named("attn_heads", std::move(mixed));
    }

    // After the last layer: the rows count in their caches from now on.
    void finish();

  private:
    Stream askedRows(const Stream& x) const;
    // Calls f(stretch, its first row, its first row among those that count: all, or those asked for) for each. Where
    // no conversation has much more to do than the others, threads take one each, and who watches is told of one op,
    // attendEach, with these operands and this result.
    void forEachStretch(bool all, const std::function<void(const Stretch&, std::size_t, std::size_t)>& f,
                        std::initializer_list<const TensorRef*> operands, const TensorRef& result) const;

    std::vector<Stretch> stretches_;
    std::size_t rows_ = 0, asked_ = 0;
};

}  // namespace axial::llm
