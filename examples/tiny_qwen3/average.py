"""The mean of the weights of several checkpoints of one training. What they have learned beside each other adds up, and
what each is wrongly sure of is weakened.

    python average.py OUT.npz WEIGHTS.npz WEIGHTS.npz [...]"""
import sys

import numpy as np

if __name__ == "__main__":
    out, *paths = sys.argv[1:]
    weights = [np.load(path) for path in paths]
    np.savez(out, **{name: np.mean([w[name] for w in weights], axis=0) for name in weights[0]})
