"""make_bundled_values.py OUT.safetensors: values of a forward pass of the bundled model by Hugging Face's transformers
(5.x, with torch and gguf), saved by examples/save_values.py: what docs/porting_a_family.md compares its drafts with. Of
the values, layers 0 and 1 and the logits are kept, to be small.

The bundled GGUF file is turned into a folder with config.json and float32 safetensors first."""

import json
import os
import re
import subprocess
import sys
import tempfile

import gguf
import torch
from safetensors.torch import load_file, save_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOKENS = "379,285,284,553,30"  # What is an axis?
NAMES = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
         "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
         "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
         "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def hugging_face_name(name):
    layer = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if layer:
        return f"model.layers.{layer[1]}.{NAMES[layer[2]]}.weight"
    return {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}[name]


def main():
    reader = gguf.GGUFReader(os.path.join(ROOT, "llm", "bundled", "axial-tiny-qwen3.gguf"))
    key = lambda name: reader.fields["qwen3." + name].contents()
    weights = {hugging_face_name(t.name): torch.from_numpy(gguf.dequantize(t.data, t.tensor_type).copy()) for t in reader.tensors}
    config = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": key("embedding_length"),
              "intermediate_size": key("feed_forward_length"), "num_hidden_layers": key("block_count"),
              "num_attention_heads": key("attention.head_count"), "num_key_value_heads": key("attention.head_count_kv"),
              "head_dim": key("attention.key_length"), "rms_norm_eps": key("attention.layer_norm_rms_epsilon"),
              "rope_theta": key("rope.freq_base"), "max_position_embeddings": key("context_length"),
              "vocab_size": weights["model.embed_tokens.weight"].shape[0], "tie_word_embeddings": True,
              "hidden_act": "silu", "attention_bias": False, "torch_dtype": "float32"}
    with tempfile.TemporaryDirectory() as folder:
        save_file(weights, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
        all_values = os.path.join(folder, "values.safetensors")
        subprocess.run([sys.executable, os.path.join(ROOT, "examples", "save_values.py"), folder, TOKENS, all_values], check=True)
        values = load_file(all_values)
    doubled = re.compile(r".*\.(self_attn|mlp|mlp\.(gate|up)_proj|mlp\.act_fn|rotary_emb)")
    kept = {name: value for name, value in values.items()
            if not doubled.fullmatch(name) and re.match(r"(model\.)?layers\.[01](\.|$)|lm_head|model\.embed_tokens|input_ids", name)}
    save_file(kept, sys.argv[1])
    for name, value in sorted(kept.items()):
        print(name, list(value.shape))


main()
