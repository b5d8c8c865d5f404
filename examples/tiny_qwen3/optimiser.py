"""Muon for the matrices inside the layers, Adam for embeddings and norms.

Muon: momentum, then the nearest orthogonal matrix by a quintic Newton-Schulz iteration, so that all
directions of a matrix are learned at the same speed."""
import jax
import jax.numpy as jnp

import network

MOMENTUM, BETA1, BETA2, DECAY = 0.95, 0.9, 0.98, 0.05
MUON_RATE, ADAM_RATE = 0.02, 3e-3


def orthogonal(g):
    """An approximately orthogonal matrix with the singular vectors of g."""
    a, b, c = 3.4445, -4.7750, 2.0315
    turned = g.shape[0] > g.shape[1]
    x = (g.T if turned else g)
    x = (x / (jnp.linalg.norm(x) + 1e-7)).astype(jnp.bfloat16)

    def dot(p, q):
        return jnp.dot(p, q, preferred_element_type=jnp.float32)

    for _ in range(5):
        s = dot(x, x.T).astype(jnp.bfloat16)
        s2 = dot(s, s)
        x = (a * x + dot((b * s + c * s2).astype(jnp.bfloat16), x)).astype(jnp.bfloat16)
    x = x.astype(jnp.float32)
    return x.T if turned else x


def start(weights):
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return {"first": zeros, "second": jax.tree.map(jnp.zeros_like, weights), "steps": jnp.zeros((), jnp.float32)}


def clip(slopes, limit=1.0):
    norm = jnp.sqrt(sum(jnp.sum(x * x) for x in jax.tree.leaves(slopes)))
    scale = jnp.minimum(1.0, limit / (norm + 1e-9))
    return jax.tree.map(lambda x: x * scale, slopes)


def update(weights, state, slopes, factor):
    """One step; factor is the schedule's share of the full learning rates."""
    slopes = clip(slopes)
    steps = state["steps"] + 1

    def muon(w, g, m):
        m = MOMENTUM * m + (1 - MOMENTUM) * g
        ahead = MOMENTUM * m + (1 - MOMENTUM) * g
        rate = MUON_RATE * factor
        gain = max(1.0, w.shape[1] / w.shape[0]) ** 0.5
        return w - rate * gain * orthogonal(ahead) - rate * DECAY * w, m

    def adam(w, g, m, v):
        m = BETA1 * m + (1 - BETA1) * g
        v = BETA2 * v + (1 - BETA2) * g * g
        move = (m / (1 - BETA1 ** steps)) / (jnp.sqrt(v / (1 - BETA2 ** steps)) + 1e-8)
        rate = ADAM_RATE * factor
        return w - rate * move - (rate * DECAY * w if w.ndim > 1 else 0.0), m, v

    new, first, second = ({"layers": []} for _ in range(3))
    for name in ("embed", "norm"):
        new[name], first[name], second[name] = adam(weights[name], slopes[name], state["first"][name], state["second"][name])
    for w, g, m, v in zip(weights["layers"], slopes["layers"], state["first"]["layers"], state["second"]["layers"]):
        nw, nm, nv = {}, {}, {}
        for name in w:
            if name in network.MATRICES:
                nw[name], nm[name] = muon(w[name], g[name], m[name])
                nv[name] = v[name]
            else:
                nw[name], nm[name], nv[name] = adam(w[name], g[name], m[name], v[name])
        new["layers"].append(nw)
        first["layers"].append(nm)
        second["layers"].append(nv)
    return new, {"first": first, "second": second, "steps": steps}
