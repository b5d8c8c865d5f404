"""Writes a GGUF of a real model's shape with random weights, for measuring speed only.

    make_synthetic_model.py --vocabulary qwen3-vocab.gguf --type Q8_0 --out q06-Q8_0.gguf
    make_synthetic_model.py --vocabulary qwen3-vocab.gguf --shape qwen3moe-32x4 --type F16 --out moe-F16.gguf

The tokenizer is copied from --vocabulary, a GGUF that holds one (the reference data's
tokenizer/qwen3-vocab.gguf). Types: F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1. K-quants:
make F16, then llama-quantize it. Needs PyPI gguf and numpy. Weights are seeded.
"""
import argparse

import gguf
import numpy as np

SHAPES = {
    "qwen3-0.6b": dict(arch="qwen3", embed=1024, ff=3072, layers=28, heads=16, kv_heads=8, channels=128, context=40960),
    "qwen2.5-0.5b": dict(arch="qwen2", embed=896, ff=4864, layers=24, heads=14, kv_heads=2, channels=64, context=32768),
    # A mixture of 32 experts, of which 4 are used: 1.6 GB in F16, a quarter of the layers' weights for each token.
    "qwen3moe-32x4": dict(arch="qwen3moe", embed=1024, ff=4096, layers=12, heads=16, kv_heads=8, channels=128,
                          context=40960, experts=32, used=4, expert_ff=512),
}


def copy_tokenizer(writer, path):
    reader = gguf.GGUFReader(path)
    for key, field in reader.fields.items():
        if not key.startswith("tokenizer."):
            continue
        kind = field.types[0]
        if kind == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), kind)
    return len(reader.fields["tokenizer.ggml.tokens"].data)


ROUTER = 0.05  # the standard deviation of routers, which files store as F32


def tensors(shape, vocabulary):
    """(name, extents outermost first, standard deviation; None: a norm's weight). Vectors are no matrices."""
    embed, ff, channels = shape["embed"], shape["ff"], shape["channels"]
    q, kv = shape["heads"] * channels, shape["kv_heads"] * channels
    yield "token_embd.weight", (vocabulary, embed), 0.02
    for i in range(shape["layers"]):
        blk = f"blk.{i}."
        yield blk + "attn_norm.weight", (embed,), None
        yield blk + "attn_q.weight", (q, embed), 0.02
        yield blk + "attn_k.weight", (kv, embed), 0.02
        yield blk + "attn_v.weight", (kv, embed), 0.02
        if shape["arch"] != "qwen2":
            yield blk + "attn_q_norm.weight", (channels,), None
            yield blk + "attn_k_norm.weight", (channels,), None
        else:
            yield blk + "attn_q.bias", (q,), 0.5
            yield blk + "attn_k.bias", (kv,), 0.5
            yield blk + "attn_v.bias", (kv,), 0.05
        yield blk + "attn_output.weight", (embed, q), 0.01
        yield blk + "ffn_norm.weight", (embed,), None
        if "experts" not in shape:
            yield blk + "ffn_gate.weight", (ff, embed), 0.02
            yield blk + "ffn_up.weight", (ff, embed), 0.02
            yield blk + "ffn_down.weight", (embed, ff), 0.01
            continue
        experts, ff = shape["experts"], shape["expert_ff"]
        yield blk + "ffn_gate_inp.weight", (experts, embed), ROUTER
        yield blk + "ffn_gate_exps.weight", (experts, ff, embed), 0.02
        yield blk + "ffn_up_exps.weight", (experts, ff, embed), 0.02
        yield blk + "ffn_down_exps.weight", (experts, embed, ff), 0.01
    yield "output_norm.weight", (embed,), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-0.6b")
    parser.add_argument("--type", default="Q8_0")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    shape = SHAPES[args.shape]
    kind = gguf.GGMLQuantizationType[args.type]
    writer = gguf.GGUFWriter(args.out, shape["arch"])
    writer.add_name(f"{args.shape}-random")
    writer.add_context_length(shape["context"])
    writer.add_embedding_length(shape["embed"])
    writer.add_block_count(shape["layers"])
    writer.add_feed_forward_length(shape["ff"])
    writer.add_head_count(shape["heads"])
    writer.add_head_count_kv(shape["kv_heads"])
    writer.add_key_length(shape["channels"])
    writer.add_value_length(shape["channels"])
    if "experts" in shape:
        writer.add_expert_count(shape["experts"])
        writer.add_expert_used_count(shape["used"])
        writer.add_expert_feed_forward_length(shape["expert_ff"])
    writer.add_rope_freq_base(1e6)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_file_type(gguf.LlamaFileType[{"F32": "ALL_F32"}.get(args.type, f"MOSTLY_{args.type}")])
    vocabulary = copy_tokenizer(writer, args.vocabulary)

    random = np.random.default_rng(args.seed)
    for name, extents, deviation in tensors(shape, vocabulary):
        values = random.standard_normal(extents, dtype=np.float32)
        values = 1 + 0.1 * values if deviation is None else deviation * values
        if len(extents) == 1:  # norms and biases stay F32, of values that 16-bit formats have as well
            writer.add_tensor(name, (values.view(np.uint32) & np.uint32(0xffff0000)).view(np.float32))
        else:
            stored = gguf.GGMLQuantizationType.F32 if deviation == ROUTER else kind
            writer.add_tensor(name, gguf.quants.quantize(values, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
