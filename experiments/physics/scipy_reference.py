#!/usr/bin/env python3
"""Fits the textbook models of this folder by scipy.optimize.least_squares, for comparison.

    scipy_reference.py                # numpy and scipy; writes scipy.csv beside itself, in a minute or two

Each model is fitted with initial states fixed at the first row, and with initial states that are fitted too
(the first row is then measured like any other). Residuals are in standard deviations of their state over the
measured cells; a state that is measured in the first rows only has the scale of the others. Positive constants
are fitted by their logarithms. Starts: the one of the experiment file ("given"), and STARTS more, each constant
times exp(2 z) with a standard normal z ("several": the least sum of squares of all).

Columns: set, initial (fixed or fitted), from, squares (sum of squared residuals), solved (starts that ended
within 0.1 % of the least), and for the least sum `name=value` and `name=standard error` of each constant, by
s² (JᵀJ)⁻¹ with s² = squares/(residuals − parameters), and their correlations `name,name=r`.
"""
import csv, os, warnings
import numpy as np
from scipy.integrate import odeint
from scipy.optimize import least_squares

HERE = os.path.dirname(os.path.abspath(__file__))
STARTS = 24


def lotka(y, t, k):
    f = lambda _, y: [k[0] * y[0] - k[1] * y[0] * y[1], k[2] * y[0] * y[1] - k[3] * y[1]]
    return path(f, y, t)


def epidemic(n):
    def solve(y, t, k):
        f = lambda _, y: [-k[0] * y[0] * y[1] / n, k[0] * y[0] * y[1] / n - k[1] * y[1], k[1] * y[1]]
        return path(f, y, t)
    return solve


def path(f, y, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solved, how = odeint(f, y, t, rtol=1e-9, atol=1e-9, mxstep=2000, tfirst=True, full_output=True)
    return solved if how["message"] == "Integration successful." else np.full((len(t), len(y)), 1e6)


def absorption(y, t, k):
    """gut = D exp(-ka t), conc' = ka gut/V - ke conc, solved by hand."""
    (ka, ke, v), s = k, t - t[0]
    if abs(ka - ke) < 1e-9 * ka:
        ka *= 1 + 1e-8
    gut = y[0] * np.exp(-ka * s)
    conc = y[1] * np.exp(-ke * s) + ka * y[0] / v / (ka - ke) * (np.exp(-ke * s) - np.exp(-ka * s))
    return np.column_stack([gut, conc])


def logistic(y, t, k):
    e = np.exp(np.clip(-k[0] * (t - t[0]), -700, 700))
    return (k[1] * y[0] / (y[0] + (k[1] - y[0]) * e))[:, None]


def cooling(y, t, k):
    return (k[1] + (y[0] - k[1]) * np.exp(np.clip(-k[0] * (t - t[0]), -700, 700)))[:, None]


# Solution, and constants: name, start, and whether it is positive.
SETS = {
    "hares": (lotka, [("birth", 1.0, True), ("hunt", 0.05, True), ("feed", 0.05, True), ("death", 1.0, True)]),
    "flu": (epidemic(763), [("infection", 1.0, True), ("recovery", 1.0, True)]),
    "hagelloch": (epidemic(188), [("infection", 1.0, True), ("recovery", 1.0, True)]),
    "theoph": (absorption, [("ka", 1.0, True), ("ke", 0.1, True), ("V", 1.0, True)]),
    "uspop": (logistic, [("growth", 0.1, True), ("most", 1000.0, True)]),
    "cooling": (cooling, [("k", 0.1, True), ("room", 20.0, False)]),
}


def read(name):
    with open(os.path.join(HERE, "..", "real", f"{name}.csv")) as file:
        head, *rows = csv.reader(file)
    runs = {}
    for row in rows:
        runs.setdefault(row[0], []).append([float(x) if x else np.nan for x in row[1:]])
    return {run: np.array(rows) for run, rows in runs.items()}


def units(runs):
    cells = np.vstack([rows[:, 1:] for rows in runs.values()])
    known = np.sum(np.isfinite(cells), 0) > 2
    scale = np.nanstd(cells, 0)
    scale[~known] = np.exp(np.mean(np.log(scale[known])))
    return scale


def fit(name, fitted, starts, random):
    solve, constants = SETS[name]
    runs = list(read(name).values())
    scale = units(read(name))
    p, d = len(constants), len(scale)
    positive = np.array([is_positive for *_, is_positive in constants])
    start = np.array([value for _, value, _ in constants])

    def values(raw):
        with np.errstate(over="ignore"):
            return np.where(positive, start * np.exp(np.minimum(raw, 50)), start + np.abs(start) * raw)

    def residuals(x):
        out = []
        for n, rows in enumerate(runs):
            y = rows[0, 1:] + (scale * x[p + n * d:][:d] if fitted else 0)
            with np.errstate(all="ignore"):
                e = (solve(y, rows[:, 0], values(x[:p])) - rows[:, 1:]) / scale
            e = e[np.isfinite(rows[:, 1:])]
            out.append(np.nan_to_num(np.clip(e, -1e6, 1e6), nan=1e6))
        return np.concatenate(out)

    # Which residuals depend on which numbers: initial states on their own run.
    ends = np.cumsum([np.isfinite(rows[:, 1:]).sum() for rows in runs])
    found = []
    for n in range(starts + 1):
        x = np.zeros(p + (d * len(runs) if fitted else 0))
        if n > 0:
            z = 2 * random.standard_normal(p)
            x[:p] = np.where(positive, z, np.expm1(z))
        sparsity = None
        if len(x) > 20:
            sparsity = np.zeros((ends[-1], len(x)))
            sparsity[:, :p] = 1
            for k, (a, b) in enumerate(zip([0, *ends[:-1]], ends)):
                sparsity[a:b, p + k * d:][:, :d] = 1
        result = least_squares(residuals, x, x_scale="jac" if sparsity is None else 1.0, jac_sparsity=sparsity,
                               xtol=1e-10, ftol=1e-10, gtol=1e-10, max_nfev=300)
        found.append((2 * result.cost, result.x))
    squares = [s for s, _ in found]
    best = int(np.argmin(squares))
    x = found[best][1]
    h = 1e-6
    jacobian = np.column_stack([(residuals(x + h * e) - residuals(x - h * e)) / (2 * h) for e in np.eye(len(x))])
    used = np.linalg.norm(jacobian, axis=0) > 0
    covariance = np.zeros((len(x), len(x)))
    s2 = squares[best] / (len(residuals(x)) - used.sum())
    covariance[np.ix_(used, used)] = s2 * np.linalg.inv(jacobian[:, used].T @ jacobian[:, used])
    slope = np.where(positive, values(x[:p]), np.abs(start))
    covariance = covariance[:p, :p] * np.outer(slope, slope)
    error = np.sqrt(np.diag(covariance))
    names = [name for name, *_ in constants]
    best_values = [f"{n}={v:.8g}" for n, v in zip(names, values(x[:p]))]
    errors = [f"{n}={e:.5g}" for n, e in zip(names, error)]
    pairs = [f"{names[i]},{names[j]}={covariance[i, j] / error[i] / error[j]:.4f}" for j in range(p) for i in range(j)]
    solved = sum(s < 1.001 * squares[best] for s in squares)
    initial = "fitted" if fitted else "fixed"
    print(name, initial, squares[0], squares[best], solved, *best_values, flush=True)
    return [[name, initial, "given", f"{squares[0]:.10g}", int(squares[0] < 1.001 * squares[best]), "", "", ""],
            [name, initial, "several", f"{squares[best]:.10g}", solved, " ".join(best_values), " ".join(errors), " ".join(pairs)]]


if __name__ == "__main__":
    random = np.random.default_rng(1)
    rows = [row for name in SETS for fitted in (False, True) for row in fit(name, fitted, STARTS, random)]
    with open(os.path.join(HERE, "scipy.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "initial", "from", "squares", "solved", "values", "errors", "correlations"])
        writer.writerows(rows)
