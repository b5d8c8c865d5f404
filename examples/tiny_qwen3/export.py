"""Writes the weights as a GGUF file: matrices in Q8_0 (or F16, F32), norms in F32.

    python export.py TOKENIZER.json WEIGHTS.npz OUT.gguf [--type Q8_0] [--template chat_template.jinja]"""
import argparse
import json
import os

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

import evaluate
import network

CONTEXT = 1024
FILE_TYPES = {"F32": gguf.LlamaFileType.ALL_F32, "F16": gguf.LlamaFileType.MOSTLY_F16, "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}


def add_tokenizer(writer, path, shape):
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    ids = dict(stored["model"]["vocab"])
    types = {}
    for token in stored["added_tokens"]:
        ids[token["content"]] = token["id"]
        types[token["id"]] = gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
    tokens = sorted(ids, key=ids.get)
    assert [ids[token] for token in tokens] == list(range(shape.vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([types.get(i, gguf.TokenType.NORMAL) for i in range(len(tokens))])
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in stored["model"]["merges"]])
    writer.add_eos_token_id(ids["<|im_end|>"])
    writer.add_bos_token_id(ids["<|endoftext|>"])
    writer.add_pad_token_id(ids["<|endoftext|>"])
    writer.add_add_bos_token(False)


def add_settings(writer, shape, kind):
    writer.add_name("axial-tiny")
    writer.add_description("A tiny chat model trained from scratch on generated chats: capitals, small sums, terms of the axial library.")
    writer.add_license("Apache-2.0")
    writer.add_size_label("2.9M")
    writer.add_languages(["en"])
    writer.add_float32("general.sampling.temp", 0.0)
    writer.add_block_count(shape.layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.groups)
    writer.add_key_length(shape.head)
    writer.add_value_length(shape.head)
    writer.add_rope_freq_base(shape.theta)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_file_type(FILE_TYPES[kind])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)


def add_weights(writer, weights, kind):
    def put(name, values):
        values = np.ascontiguousarray(values, np.float32)
        if values.ndim == 1 or kind == "F32":
            writer.add_tensor(name, values)
        elif kind == "F16":
            writer.add_tensor(name, values.astype(np.float16))
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, Type[kind]), raw_dtype=Type[kind])

    put("token_embd.weight", weights["embed"])
    put("output_norm.weight", weights["norm"])
    for i, layer in enumerate(weights["layers"]):
        for part, name in evaluate.PARTS.items():
            put(f"blk.{i}.{name}.weight", np.asarray(layer[part]).T)


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("tokenizer")
    ask.add_argument("weights")
    ask.add_argument("out")
    ask.add_argument("--type", default="Q8_0", choices=list(FILE_TYPES))
    ask.add_argument("--template", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "chat_template.jinja"))
    given = ask.parse_args()
    shape = network.Shape()
    writer = gguf.GGUFWriter(given.out, "qwen3")
    add_settings(writer, shape, given.type)
    add_tokenizer(writer, given.tokenizer, shape)
    with open(given.template, encoding="utf-8") as file:
        writer.add_chat_template(file.read())
    add_weights(writer, network.load(given.weights), given.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(given.out, os.path.getsize(given.out), "bytes")


if __name__ == "__main__":
    main()
