#!/usr/bin/env python3
"""Minima of regularised least squares by SciPy, for least_squares.rs. Written with SciPy 1.17.

r_i = Σ_j x_2j tanh(x_2j+1 t_i + 0.3 j) − sin 2t_i,   t_i = i/4,   weights 10 + i,   precision a of the prior
"""
import numpy as np
from scipy.optimize import least_squares

for units, rows, precision in [(6, 8, 0.5), (3, 30, 0.1), (2, 12, 0.0)]:
    t, j = np.arange(rows) / 4, np.arange(units)
    w = 10 + np.arange(rows)

    def all_residuals(x):
        r = np.tanh(np.outer(t, x[1::2]) + .3 * j) @ x[0::2] - np.sin(2 * t)
        return np.concatenate([np.sqrt(w) * r, np.sqrt(precision) * x])

    def jacobian(x):
        a = np.tanh(np.outer(t, x[1::2]) + .3 * j)
        J = np.empty((rows, 2 * units)); J[:, 0::2] = a; J[:, 1::2] = x[0::2] * (1 - a * a) * t[:, None]
        return np.vstack([np.sqrt(w)[:, None] * J, np.sqrt(precision) * np.eye(2 * units)])

    start = np.sin(np.arange(2 * units) + 1)
    found = least_squares(all_residuals, start, jacobian, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=100000)
    print(units, rows, precision, repr(found.cost), [float(f"{x:.12g}") for x in found.x])
