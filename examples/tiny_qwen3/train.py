"""Trains the network on the endless seeded corpus; build.sh says in which calls.

    python train.py TOKENIZER.json OUT.npz --steps N [--start WEIGHTS.npz] [--rate 1.0] [--refusals 28] [--seed N]
                    [--length 128] [--turns 3]

The learning rate warms up, then falls in a straight line to zero. The weights are random unless --start names some. They
are saved every 500 steps and at the end.

The rows are short, so that training is fast; so that long chats work all the same, the positions jump ahead at
the start of some turns, as if more had been said before."""
import argparse
import os
import random
import time

DEVICES = 2                                    # a part of each step for each of two cores
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from tokenizers import Tokenizer

import corpus
import network
import optimiser

TOKENS, TRAINED, WARMUP = 2048, 1024, 150      # per step: tokens, places with a loss; steps of warm-up
GAPS, GAP = 0.3, 250                           # share of turns that move on in position, and by how much at most
POOL = 64                                      # open rows while packing
OPENING = (8.0, 2.0)                           # weight of the first tokens of a thought or an answer: they decide the rest


def packed_rows(tokenizer, seed, length, most):
    """Endless rows of (tokens, segments, positions, weights in the loss), each filled with whole chats."""
    draw = random.Random(seed)
    known = {}

    def ids(text):
        if text not in known:
            if len(known) > 200000:
                known.clear()
            known[text] = tokenizer.encode(text, add_special_tokens=False).ids
        return known[text]

    def one():
        while True:
            tokens, flags, positions, position = [], [], [], 0
            for text, trained in corpus.training_pieces(draw, most if draw.random() < 0.4 else 3):
                part = ids(text)
                if position and text.startswith("<|im_start|>user") and draw.random() < GAPS:
                    position += draw.randint(1, GAP)
                tokens += part
                positions += range(position, position + len(part))
                position += len(part)
                weights = [float(trained > 0)] * len(part)
                if trained == 1 and len(part) > 3:
                    weights[:2] = OPENING
                elif trained == 2:
                    weights[0] = 0.0
                flags += weights
            if len(tokens) <= length:
                return tokens, positions, flags

    rows = []
    while True:
        tokens, positions, flags = one()
        row = next((row for row in rows if len(row[0]) + len(tokens) <= length), None)
        if row is None:
            row = ([], [], [], [])
            rows.append(row)
        segment = row[1][-1] + 1 if row[1] else 0
        row[0].extend(tokens)
        row[1].extend([segment] * len(tokens))
        row[2].extend(positions)
        row[3].extend(flags)
        if len(rows) > POOL:
            rows.sort(key=lambda row: -len(row[0]))
            tokens, segments, positions, flags = rows.pop(0)
            rest = length - len(tokens)
            yield tokens + [0] * rest, segments + [-1] * rest, positions + [0] * rest, flags + [0] * rest


def batches(tokenizer, seed, length, most):
    """Endless batches; every array has the device as its first axis."""
    rows = packed_rows(tokenizer, seed, length, most)

    def part():
        tokens, segments, positions, weights = (np.array(x) for x in zip(*[next(rows) for _ in range(TOKENS // DEVICES // length)]))
        at = np.flatnonzero(weights.ravel())[:TRAINED // DEVICES]
        weight, place, target = (np.zeros(TRAINED // DEVICES, kind) for kind in (np.float32, np.int32, np.int32))
        weight[:len(at)], place[:len(at)], target[:len(at)] = weights.ravel()[at], at - 1, tokens.ravel()[at]
        return *(x.astype(np.int32) for x in (tokens, segments, positions)), place, target, weight

    while True:
        yield tuple(np.stack(x) for x in zip(*[part() for _ in range(DEVICES)]))


def loss(shape, weights, total, tokens, segments, positions, place, target, weight):
    states = network.hidden_states(shape, weights, tokens, segments, positions, fast=True)[place]
    scores = network.fast_product(states, weights["embed"].T)
    missed = jax.nn.logsumexp(scores, -1) - jnp.take_along_axis(scores, target[:, None], -1)[:, 0]
    return jnp.sum(missed * weight) / total


def stepper(shape):
    """A jitted step of training, the batch shared out over the devices."""
    def one(weights, state, factor, *batch):
        batch = [x[0] for x in batch]
        total = jax.lax.psum(batch[-1].sum(), "device")
        value, slopes = jax.value_and_grad(lambda w: loss(shape, w, total, *batch))(weights)
        value, slopes = jax.lax.psum((value, slopes), "device")
        weights, state = optimiser.update(weights, state, slopes, factor, "device")
        return weights, state, value

    mesh = jax.make_mesh((DEVICES,), ("device",), axis_types=(jax.sharding.AxisType.Auto,))
    whole, shared = PartitionSpec(), PartitionSpec("device")
    return jax.jit(jax.shard_map(one, mesh=mesh, in_specs=(whole, whole, whole) + (shared,) * 6,
                                 out_specs=(whole, whole, whole), check_vma=False), donate_argnums=(0, 1))


def share_of_rate(step, steps):
    return min((step + 1) / WARMUP, (steps - step) / (steps - WARMUP))


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("tokenizer")
    ask.add_argument("out")
    ask.add_argument("--steps", type=int, required=True)
    ask.add_argument("--start", help="weights to go on from")
    ask.add_argument("--rate", type=float, default=1.0, help="scales all learning rates")
    ask.add_argument("--refusals", type=int, default=corpus.SINGLE["refuse"], help="share of what is refused, as in corpus.SINGLE")
    ask.add_argument("--length", type=int, default=128, help="tokens in a row")
    ask.add_argument("--turns", type=int, default=3, help="most turns of a chat")
    ask.add_argument("--seed", type=int, default=1)
    given = ask.parse_args()
    shape = network.Shape()
    corpus.SINGLE["refuse"] = given.refusals
    weights = jax.tree.map(jnp.asarray, network.load(given.start)) if given.start else network.initial(shape, given.seed)
    state = optimiser.start(weights)
    print("parameters", network.count(weights), flush=True)

    advance = stepper(shape)
    source = batches(Tokenizer.from_file(given.tokenizer), given.seed, given.length, given.turns)
    began, losses = time.time(), []
    for step in range(given.steps):
        factor = np.float32(given.rate * share_of_rate(step, given.steps))
        weights, state, value = advance(weights, state, factor, *next(source))
        losses.append(value)
        if (step + 1) % 100 == 0:
            spent = time.time() - began
            mean = float(np.mean([float(x) for x in losses]))
            losses = []
            print(f"{step + 1} {spent:.0f}s loss {mean:.4f} rate {factor:.3f} {(step + 1) * TOKENS / spent:.0f} tok/s", flush=True)
        if (step + 1) % 500 == 0 or step + 1 == given.steps:
            network.save(given.out, weights)


if __name__ == "__main__":
    main()
