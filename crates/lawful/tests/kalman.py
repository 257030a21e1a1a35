#!/usr/bin/env python3
"""The exact smoother and marginal likelihood of a linear system with process noise, for
src/train/search/process_noise.rs: numpy only.

    x' = -a x,  x_{k+1} = exp(-a dt) x_k + w,  w ~ N(0, q dt),  y_k = x_k + v,  v ~ N(0, r),  x_0 ~ N(y_0, p)

All in units of the standard deviation s of y, with q dt = dt/(tau Q) of the mean interval tau. Once by the Kalman
filter and the smoother of Rauch, Tung and Striebel, once by the dense joint normal distribution.
"""
import numpy as np

a, beta, precision = 0.8, 25.0, 4.0
t = np.array([0.0, 0.4, 1.1, 1.5, 2.4, 2.9, 3.7, 4.0])
y = np.array([1.0, 0.9, np.nan, -0.2, 0.5, 0.8, 0.1, -0.6])
known = np.isfinite(y)
s = np.std(y[known])
tau = np.mean(np.diff(t))
z = y / s
p, r = 1.0, 1 / beta

# Filter and smoother.
m, v, log = z[0], p, 0.0
filtered, predicted = [], []
for k in range(len(t)):
    if k:
        f = np.exp(-a * (t[k] - t[k - 1]))
        m, v = f * m, f * f * v + (t[k] - t[k - 1]) / tau / precision
    predicted.append((m, v))
    if known[k]:
        variance = v + r
        log -= 0.5 * (np.log(2 * np.pi * variance) + (z[k] - m) ** 2 / variance)
        gain = v / variance
        m, v = m + gain * (z[k] - m), v * (1 - gain)
    filtered.append((m, v))
smoothed = [filtered[-1]]
for k in range(len(t) - 2, -1, -1):
    f = np.exp(-a * (t[k + 1] - t[k]))
    (m, v), (mp, vp), (ms, vs) = filtered[k], predicted[k + 1], smoothed[0]
    g = v * f / vp
    smoothed.insert(0, (m + g * (ms - mp), v + g * g * (vs - vp)))

# The same by the joint distribution.
n = len(t)
transition = np.eye(n)
for k in range(1, n):
    transition[k] = np.exp(-a * (t[k] - t[k - 1])) * transition[k - 1]
    transition[k, k] = 1
noise = np.diag([p, *np.diff(t) / tau / precision])
prior = transition @ noise @ transition.T
mean = transition[:, 0] * z[0]
h = np.eye(n)[known]
joint = h @ prior @ h.T + r * np.eye(known.sum())
error = z[known] - h @ mean
log2 = -0.5 * (error @ np.linalg.solve(joint, error) + np.linalg.slogdet(2 * np.pi * joint)[1])
states = mean + prior @ h.T @ np.linalg.solve(joint, error)
assert abs(log - log2) < 1e-10 and np.allclose(states, [m for m, _ in smoothed])
print("log", repr(float(log)))
print("states", [float(s * m) for m, _ in smoothed])
print("deviation of the last", float(s * np.sqrt(smoothed[-1][1])))
