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
    x = (g / (jnp.linalg.norm(g) + 1e-7)).astype(jnp.bfloat16)
    x = network.row_major(x.T) if turned else x

    def dot(p, q):
        return jnp.dot(network.row_major(p), network.row_major(q), preferred_element_type=jnp.float32)

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


def orthogonal_in_parts(matrices, axis):
    """orthogonal() of each matrix of a list; each device of the mesh axis does its part of them."""
    devices = jax.lax.axis_size(axis)
    share = len(matrices) // devices
    assert share * devices == len(matrices)
    mine = jax.lax.dynamic_slice_in_dim(jnp.stack(matrices), share * jax.lax.axis_index(axis), share)
    done = jnp.stack([orthogonal(mine[i]) for i in range(share)])
    return list(jax.lax.all_gather(done, axis, tiled=True))


def update(weights, state, slopes, factor, axis):
    """One step; factor is the schedule's share of the full learning rates."""
    slopes = clip(slopes)
    steps = state["steps"] + 1
    ahead = {}
    for name in network.MATRICES:
        pairs = zip(slopes["layers"], state["first"]["layers"])
        ahead[name] = orthogonal_in_parts([(1 - MOMENTUM * MOMENTUM) * g[name] + MOMENTUM * MOMENTUM * m[name] for g, m in pairs], axis)

    def muon(w, g, m, direction):
        rate = MUON_RATE * factor
        gain = max(1.0, w.shape[1] / w.shape[0]) ** 0.5
        return w - rate * gain * direction - rate * DECAY * w, MOMENTUM * m + (1 - MOMENTUM) * g

    def adam(w, g, m, v):
        m = BETA1 * m + (1 - BETA1) * g
        v = BETA2 * v + (1 - BETA2) * g * g
        move = (m / (1 - BETA1 ** steps)) / (jnp.sqrt(v / (1 - BETA2 ** steps)) + 1e-8)
        rate = ADAM_RATE * factor
        return w - rate * move - (rate * DECAY * w if w.ndim > 1 else 0.0), m, v

    new, first, second = ({"layers": []} for _ in range(3))
    for name in ("embed", "norm"):
        new[name], first[name], second[name] = adam(weights[name], slopes[name], state["first"][name], state["second"][name])
    layers = zip(weights["layers"], slopes["layers"], state["first"]["layers"], state["second"]["layers"])
    for i, (w, g, m, v) in enumerate(layers):
        nw, nm, nv = {}, {}, {}
        for name in w:
            if name in network.MATRICES:
                nw[name], nm[name] = muon(w[name], g[name], m[name], ahead[name][i])
                nv[name] = v[name]
            else:
                nw[name], nm[name], nv[name] = adam(w[name], g[name], m[name], v[name])
        new["layers"].append(nw)
        first["layers"].append(nm)
        second["layers"].append(nv)
    return new, {"first": first, "second": second, "steps": steps}
