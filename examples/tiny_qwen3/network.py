"""The Qwen3 architecture in JAX: RMSNorm on every query and key head, grouped-query attention,
half-split RoPE, SwiGLU, tied embeddings.

Matrix products run in bfloat16 with float32 sums when FAST is set (training); everything else,
and all evaluation, is float32. Weights are kept [in, out]; the GGUF export transposes them."""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint


@dataclasses.dataclass(frozen=True)
class Shape:
    """The hyperparameters of the network. All row lengths are multiples of 256."""
    vocabulary: int = 2048
    width: int = 256
    layers: int = 4
    heads: int = 4
    groups: int = 2
    head: int = 64
    hidden: int = 512
    theta: float = 1e6
    epsilon: float = 1e-6


MATRICES = ("q", "k", "v", "o", "gate", "up", "down")


def initial(shape, seed=0):
    """Random weights; the two matrices that write to the residual stream start small."""
    draw = np.random.default_rng(seed)

    def normal(rows, columns, deviation):
        return jnp.asarray(draw.normal(0, deviation, (rows, columns)), jnp.float32)

    def ones(size):
        return jnp.ones((size,), jnp.float32)

    width, queries, keys = shape.width, shape.heads * shape.head, shape.groups * shape.head
    into, out = 0.6 / np.sqrt(width), 0.02 / np.sqrt(2 * shape.layers)
    layers = []
    for _ in range(shape.layers):
        layers.append({
            "attn_norm": ones(width), "ffn_norm": ones(width),
            "q_norm": ones(shape.head), "k_norm": ones(shape.head),
            "q": normal(width, queries, into), "k": normal(width, keys, into),
            "v": normal(width, keys, into), "o": normal(queries, width, out),
            "gate": normal(width, shape.hidden, into), "up": normal(width, shape.hidden, into),
            "down": normal(shape.hidden, width, out)})
    return {"embed": normal(shape.vocabulary, width, 0.02), "norm": ones(width), "layers": layers}


def row_major(x):
    """x stored row by row. On CPUs the fast bfloat16 product takes no operand that is only seen as transposed."""
    return with_layout_constraint(x, Layout(major_to_minor=(0, 1)))


@jax.custom_vjp
def fast_product(x, w):
    return _fast_forward(x, w)[0]


def _fast_forward(x, w):
    x, w = row_major(x.astype(jnp.bfloat16)), row_major(w.astype(jnp.bfloat16))
    return jnp.dot(x, w, preferred_element_type=jnp.float32), (x, w)


def _fast_backward(saved, slope):
    x, w = saved
    slope = row_major(slope.astype(jnp.bfloat16))
    return (row_major(jnp.dot(slope, row_major(w.T), preferred_element_type=jnp.float32)),
            row_major(jnp.dot(row_major(x.T), slope, preferred_element_type=jnp.float32)))


fast_product.defvjp(_fast_forward, _fast_backward)


def rms_norm(x, weight, epsilon):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + epsilon) * weight


def rope_turns(shape, positions):
    """Cosine and sine [row, token, 1, half] of the angles at integer positions."""
    rate = shape.theta ** (-np.arange(0, shape.head, 2) / shape.head)
    angle = positions[..., None, None] * jnp.asarray(rate, jnp.float32)
    return jnp.cos(angle), jnp.sin(angle)


def rope(x, cosine, sine):
    """Rotates the halves of the last axis of x [row, token, head, value]."""
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)


def hidden_states(shape, weights, tokens, segments, positions=None, fast=False):
    """[rows * tokens, width] after the last norm. tokens, segments, positions: [row, token]; a token sees the
    earlier tokens of its own segment only, so several chats can share a row. Positions count from 0 if not given."""
    product = fast_product if fast else jnp.dot
    rows, length = tokens.shape
    if positions is None:
        positions = jnp.arange(length)[None]
    cosine, sine = rope_turns(shape, positions)
    causal = np.tril(np.ones((length, length), bool))
    seen = causal[None] & (segments[:, :, None] == segments[:, None, :])
    mask = jnp.where(seen, 0.0, -1e9)[:, None]
    x = weights["embed"][tokens.reshape(-1)]
    for layer in weights["layers"]:
        y = rms_norm(x, layer["attn_norm"], shape.epsilon)
        q = product(y, layer["q"]).reshape(rows, length, shape.heads, shape.head)
        k = product(y, layer["k"]).reshape(rows, length, shape.groups, shape.head)
        v = product(y, layer["v"]).reshape(rows, length, shape.groups, shape.head)
        q = rope(rms_norm(q, layer["q_norm"], shape.epsilon), cosine, sine)
        k = rope(rms_norm(k, layer["k_norm"], shape.epsilon), cosine, sine)
        q, k, v = (y.transpose(0, 2, 1, 3).reshape(rows * shape.groups, -1, shape.head) for y in (q, k, v))
        scores = jnp.einsum("gth,gsh->gts", q, k) / np.sqrt(shape.head)
        chances = jax.nn.softmax(scores.reshape(rows, shape.heads, length, length) + mask, -1)
        mixed = jnp.einsum("gts,gsh->gth", chances.reshape(rows * shape.groups, -1, length), v)
        mixed = mixed.reshape(rows, shape.heads, length, shape.head).transpose(0, 2, 1, 3)
        x = x + product(mixed.reshape(rows * length, shape.heads * shape.head), layer["o"])
        y = rms_norm(x, layer["ffn_norm"], shape.epsilon)
        gated = jax.nn.silu(product(y, layer["gate"])) * product(y, layer["up"])
        x = x + product(gated, layer["down"])
    return rms_norm(x, weights["norm"], shape.epsilon)


def logits(shape, weights, tokens, segments):
    rows, length = tokens.shape
    out = hidden_states(shape, weights, tokens, segments) @ weights["embed"].T
    return out.reshape(rows, length, shape.vocabulary)


def count(weights):
    return sum(x.size for x in jax.tree.leaves(weights))


def save(path, weights):
    flat = {"embed": weights["embed"], "norm": weights["norm"]}
    for i, layer in enumerate(weights["layers"]):
        flat |= {f"{i}.{name}": value for name, value in layer.items()}
    np.savez(path, **{name: np.asarray(value) for name, value in flat.items()})


def load(path):
    flat = np.load(path)
    many = 1 + max(int(name.split(".")[0]) for name in flat if "." in name)
    weights = {"embed": flat["embed"], "norm": flat["norm"], "layers": [{} for _ in range(many)]}
    for name in flat:
        if "." in name:
            i, part = name.split(".")
            weights["layers"][int(i)][part] = flat[name]
    return weights
