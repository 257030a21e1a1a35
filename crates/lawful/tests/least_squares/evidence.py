#!/usr/bin/env python3
"""The evidence of a small network for hares and lynxes at a fixed point, in JAX, for evidence.rs.

z = (y − mean)/std over the rows that are not held out, dz/dt = rate (W2 tanh(W1 z + b1)/√8 + b2), the 3/8
rule in four steps a year, from the first row + δ; α = 0.3 for weights, 1 for δ, β = 100.
"""
import math, os, re
import jax, jax.numpy as jnp, numpy as np

jax.config.update("jax_enable_x64", True)
text = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../evidence.rs")).read()
table = text.split("const PELTS")[1].split("= [", 1)[1].split("\n];")[0]
Y = np.array([float(x) for x in re.findall(r"\d+\.\d+", table)]).reshape(-1, 2)
kept = np.arange(21) % 4 != 2
mean, std = Y[kept].mean(0), Y[kept].std(0)
Z, rate = (Y - mean) / std, np.array([0.8479022027780637, 0.7743355127093984])


def residuals(theta):
    W1, b1 = theta[:16].reshape(8, 2), theta[16:24]
    W2, b2 = theta[24:40].reshape(2, 8), theta[40:42]
    f = lambda z: rate * (W2 @ jnp.tanh(W1 @ z + b1) / math.sqrt(8) + b2)
    z, rows = Z[0] + theta[42:], []
    for n in range(21):
        rows.append(z)
        for _ in range(4):
            h = 0.25
            k1 = f(z); k2 = f(z + h * k1 / 3); k3 = f(z + h * (k2 - k1 / 3)); k4 = f(z + h * (k1 - k2 + k3))
            z = z + h / 8 * (k1 + 3 * k2 + 3 * k3 + k4)
    return (jnp.stack(rows) - Z)[kept].ravel()


theta = 0.3 * np.sin(np.arange(1, 45)); theta[42:] = 0.01
r, J = np.asarray(residuals(theta)), np.asarray(jax.jacfwd(residuals)(theta))
A = np.concatenate([np.full(42, 0.3), np.ones(2)])
H = 100 * J.T @ J + np.diag(A)
E_D, E_W, E_0 = (r @ r / 2, theta[:42] @ theta[:42] / 2, theta[42:] @ theta[42:] / 2)
gamma = 100 * np.trace(np.linalg.solve(H, J.T @ J))
log_evidence = (-100 * E_D - 0.3 * E_W - E_0 + 16 * math.log(100 / 2 / math.pi) + np.log(A).sum() / 2
                - np.linalg.slogdet(H)[1] / 2 + math.lgamma(9) + 8 * math.log(2))
print(f"E_D {E_D:.10g}  E_W {E_W:.10g}  γ {gamma:.10g}  log evidence {log_evidence:.10g}")
