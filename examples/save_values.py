"""Saves the values of a forward pass of Hugging Face's transformers, for axial diff to compare with:
   python3 save_values.py FOLDER 9707,11,1879 values.safetensors"""

import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

folder, ids, file = sys.argv[1], [int(i) for i in sys.argv[2].split(",")], sys.argv[3]
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
values = {"input_ids": torch.tensor([ids])}


def keep(name, value):
    if isinstance(value, torch.Tensor):
        values[name] = value.clone().contiguous()


def hook(name):
    def after(module, inputs, output):
        parts = output if isinstance(output, tuple) else (output,)
        keep(name, parts[0])
        if name.endswith("self_attn") and len(parts) > 1:
            keep(name.replace("self_attn", "attn_probs"), parts[1])
        if name.endswith("o_proj"):
            keep(name.replace("self_attn.o_proj", "attn_heads"), inputs[0])

    return after


for name, module in model.named_modules():
    module.register_forward_hook(hook(name))

# Queries and keys behind the rotation are no module's output: the function that rotates them is called once a layer.
modeling = sys.modules[type(model).__module__]
rotate = modeling.apply_rotary_pos_emb


def rotated(*arguments, **more):
    q, k = rotate(*arguments, **more)
    layer = sum(name.endswith(".q") for name in values)
    keep(f"layers.{layer}.q", q)
    keep(f"layers.{layer}.k", k)
    return q, k


modeling.apply_rotary_pos_emb = rotated
with torch.no_grad():
    model(input_ids=values["input_ids"])
save_file(values, file)
