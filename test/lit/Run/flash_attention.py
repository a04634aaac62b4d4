# RUN: %python %s %tf-run %t
"""FlashAttention-2 forward, causal and not, for sequence lengths around the blocks, against softmax in f64."""
import sys
import numpy as np
import tfcheck

check = tfcheck.Check(sys.argv)
rng = np.random.default_rng(62)


def attention(q, k, v, causal):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    s = q @ k.transpose(0, 2, 1) / 8
    if causal:
        s = np.where(np.arange(s.shape[2])[None, :] > np.arange(s.shape[1])[:, None], -np.inf, s)
    p = np.exp(s - s.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    return p @ v, p @ np.abs(v)


for causal, shapes in ((0, ((1, 64, 64), (2, 1, 1), (1, 63, 65), (3, 65, 127), (1, 40, 200))), (1, ((1, 64, 64), (1, 1, 1), (2, 63, 63), (1, 65, 129), (1, 130, 130), (1, 129, 70)))):
    for heads, queries, keys in shapes:
        # Scores between about -12 and 12, larger ones later in the sequence, so that running maxima move.
        q = tfcheck.bf16(rng.standard_normal((heads, queries, 64)) * 2)
        k = tfcheck.bf16(rng.standard_normal((heads, keys, 64)) * np.linspace(0.5, 2, keys)[:, None])
        v = tfcheck.bf16(rng.standard_normal((heads, keys, 64)))
        want, magnitude = attention(q, k, v, causal)
        for options in ([], ["--seed=7"]) if keys == 127 or queries == 130 else ([],):
            got = check.run("flash_attention.tir", {"q": q, "k": k, "v": v}, {"out": (want, 0.1, 0.1)}, [f"-DCAUSAL={causal}", *options])["out"]
            # p is rounded to bf16 once, and so is the result.
            bound = 2.0**-8 * (np.abs(want) + magnitude)
            assert (np.abs(got - want) <= bound).all(), (causal, heads, queries, keys, (np.abs(got - want) / bound).max())
