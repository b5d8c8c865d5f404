"""make_typical.py LIBLLAMA OUT: sampling.json-like cases with locally typical sampling, by llama.cpp's own samplers.

LIBLLAMA is llama.cpp's libllama.so; its samplers are called one after another, in both orders that axial knows. Each
cut is far enough from its neighbours (1e-4 in probability, 1e-4 in distance from the entropy) that float32 cannot turn
it. Written with llama.cpp of commit 0c1e570 (2026-10-01).
"""
import ctypes
import json
import sys

import numpy as np


class Token(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class Tokens(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(Token)), ("size", ctypes.c_size_t), ("selected", ctypes.c_int64),
                ("sorted", ctypes.c_bool)]


library = ctypes.CDLL(sys.argv[1])
made_with = {"top_k": [ctypes.c_int32], "temp": [ctypes.c_float]} | {
    name: [ctypes.c_float, ctypes.c_size_t] for name in ("top_p", "min_p", "typical")}
for name, arguments in made_with.items():
    make = getattr(library, "llama_sampler_init_" + name)
    make.argtypes, make.restype = arguments, ctypes.c_void_p
library.llama_sampler_apply.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tokens)]
library.llama_sampler_free.argtypes = [ctypes.c_void_p]

first = ("top_k", "temp", "top_p", "min_p", "typical")
last = ("top_k", "typical", "top_p", "min_p", "temp")
defaults = {"temp": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical": 1.0}


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def is_clear(logits, settings, order):
    """Whether no cut of this chain is near its border, by the definition in float64."""
    x = np.array(sorted(logits, reverse=True), np.float64)
    for name in order:
        value = settings[name]
        p = softmax(x)
        if name == "top_k" and value:
            x = x[:value]
        elif name == "temp":
            x = x / value
        elif name == "top_p" and value < 1:
            cum = np.cumsum(p)
            if np.min(np.abs(cum - value)) < 1e-4:
                return False
            x = x[:int(np.argmax(cum >= value)) + 1]
        elif name == "min_p" and value > 0:
            if np.min(np.abs(p - value * p[0])) < 1e-4 * p[0]:
                return False
            x = x[p >= value * p[0]]
        elif name == "typical" and value < 1:
            away = np.abs(-np.log(p) + np.sum(p * np.log(p)))
            by = np.argsort(away, kind="stable")
            cum = np.cumsum(p[by])
            n = int(np.argmax(cum >= value)) + 1
            if np.min(np.abs(cum - value)) < 1e-4 or (n < len(x) and away[by[n]] - away[by[n - 1]] < 1e-4):
                return False
            x = np.array(sorted(x[by[:n]], reverse=True))
    return True


def run(logits, settings, order):
    data = (Token * len(logits))(*[Token(i, v, 0) for i, v in enumerate(logits)])
    tokens = Tokens(data, len(logits), -1, False)
    for name in order:
        least = [1] * (len(made_with[name]) - 1)  # min_keep
        sampler = getattr(library, "llama_sampler_init_" + name)(settings[name], *least)
        library.llama_sampler_apply(sampler, ctypes.byref(tokens))
        library.llama_sampler_free(sampler)
    kept = sorted(((tokens.data[i].logit, tokens.data[i].id) for i in range(tokens.size)), key=lambda t: (-t[0], t[1]))
    return {"candidates": [i for _, i in kept],
            "probabilities": [round(float(p), 7) for p in softmax(np.array([l for l, _ in kept], np.float64))]}


random = np.random.default_rng(5)
wanted = [{"typical": 0.95}, {"typical": 0.5}, {"typical": 0.2}, {"typical": 0.05}, {"typical": 0.0},
          {"typical": 0.9, "temp": 0.6}, {"typical": 0.9, "temp": 1.7}, {"typical": 0.3, "temp": 0.4},
          {"typical": 0.7, "top_k": 10}, {"typical": 0.8, "top_p": 0.9, "temp": 1.3},
          {"typical": 0.6, "min_p": 0.05, "temp": 0.8},
          {"typical": 0.9, "top_k": 20, "top_p": 0.9, "min_p": 0.02, "temp": 0.7}, {"typical": 1.0, "top_p": 0.8}]
cases = []
for one in wanted:
    settings = defaults | one
    for size, spread in ((16, 2.0), (40, 1.0), (90, 2.5)):
        while True:
            logits = [round(float(v), 3) for v in random.standard_normal(size) * spread]
            if is_clear(logits, settings, first) and is_clear(logits, settings, last):
                break
        cases.append({"settings": settings, "logits": logits, "first": run(logits, settings, first),
                      "last": run(logits, settings, last)})
with open(sys.argv[2], "w") as out:
    json.dump({"cases": cases}, out)
    out.write("\n")
