"""Thirteen simulated data sets like measured ones: few rows, noise, gaps, subjects, models that nobody wrote down exactly.

Settings of the least squares are chosen on these, and reported on measured sets. `make(name, replicate)` returns a table (run, t, states), the
true states in the same rows, and `SETS[name]` what `lawful` is told: states, laws, which states are scored, whether subjects are held out.
"""
import numpy as np, pandas as pd
from scipy.integrate import solve_ivp


def epidemic(n):
    return [f"S + I + R == {n}", "next(S) <= S", "next(R) >= R", "S >= 0", "I >= 0", "R >= 0"]


def nonnegative(*states):
    return [f"{s} >= 0" for s in states]


SETS = {
    "prey": dict(states=["x", "y"], laws=nonnegative("x", "y")),
    "grazing": dict(states=["x", "y"], laws=nonnegative("x", "y")),
    "latent": dict(states=["S", "I", "R"], laws=epidemic(200)),
    "ill": dict(states=["S", "I", "R"], laws=epidemic(500), score=["I"]),
    "dose": dict(states=["gut", "conc"], laws=nonnegative("gut", "conc") + ["next(gut) <= gut"], score=["conc"], subjects=True),
    "growth": dict(states=["n"], laws=["next(n) >= n"]),
    "mug": dict(states=["T"], laws=["T >= 20", "next(T) <= T"]),
    "relaxation": dict(states=["x", "v"], laws=[]),
    "chain": dict(states=["A", "B", "C"], laws=["A + B + C == 1"] + nonnegative("A", "B", "C")),
    "brusselator": dict(states=["x", "y"], laws=nonnegative("x", "y")),
    "pendulum": dict(states=["x", "v"], laws=["next(v^2/2 - cos(x)) <= v^2/2 - cos(x)"]),
    "twins": dict(states=["n"], laws=["n >= 0"], subjects=True),
    "chicks": dict(states=["w"], laws=["w >= 0"], subjects=True),
}


def solve(f, y0, t):
    return solve_ivp(f, (t[0], t[-1]), y0, t_eval=t, rtol=1e-9, atol=1e-9).y.T


def gillespie(random, n, times, beta, sigma, gamma):
    """S, E, I, R of a stochastic SEIR process."""
    S, E, I, R, t, rows = n - 2, 0, 2, 0, 0.0, []
    for at in times:
        while True:
            rates = np.array([beta * S * I / n, sigma * E, gamma * I])
            total = rates.sum()
            step = random.exponential(1 / total) if total > 0 else np.inf
            if t + step > at:
                t = at
                break
            t += step
            k = random.choice(3, p=rates / total)
            if k == 0: S, E = S - 1, E + 1
            elif k == 1: E, I = E - 1, I + 1
            else: I, R = I - 1, R + 1
        rows.append([S + E, I, R])
    return np.array(rows, float)


def frame(run, t, states, values):
    return pd.DataFrame({"run": run, "t": t, **{s: values[:, i] for i, s in enumerate(states)}})


def make(name, replicate):
    """Returns the table of replicate 0, 1, … with noise, and the same without."""
    random = np.random.default_rng([replicate, sum(map(ord, name))])
    states = SETS[name]["states"]
    normal = random.standard_normal
    if name == "prey":
        t = np.arange(0, 21.0)
        y = solve(lambda t, y: [y[0] * (0.55 - 0.028 * y[1]), y[1] * (-0.84 + 0.026 * y[0])], [30, 5], t)
        return frame("a", t, states, (y * np.exp(0.15 * normal(y.shape))).round(1)), frame("a", t, states, y)
    if name == "grazing":
        t = np.linspace(0, 60, 40)
        f = lambda t, y: [y[0] * (1 - y[0] / 3) - y[0] * y[1] / (0.6 + y[0]), 0.35 * y[0] * y[1] / (0.6 + y[0]) - 0.2 * y[1]]
        y = solve(f, [1.0, 0.6], t)
        noisy = np.maximum(0, y + 0.08 * y.std(0) * normal(y.shape)).round(3)
        return frame("a", t, states, noisy), frame("a", t, states, y)
    if name == "latent":
        t = np.arange(0, 62, 2.0)
        while True:
            y = gillespie(random, 200, t, 0.6, 0.3, 0.18)
            if y[-1, 2] > 100: break
        table = frame("a", t, states, y)
        return table, table
    if name == "ill":
        t = np.arange(0, 14.0)
        y = solve(lambda t, y: [-1.7 * y[0] * y[1] / 500, 1.7 * y[0] * y[1] / 500 - 0.55 * y[1], 0.55 * y[1]], [498, 2, 0], t)
        noisy = np.full(y.shape, np.nan)
        noisy[:, 1] = np.maximum(0, y[:, 1] + 4 * normal(len(t))).round()
        noisy[0] = [498, 2, 0]
        return frame("a", t, states, noisy), frame("a", t, states, y)
    if name == "dose":
        tables, truths = [], []
        for k in range(12):
            ka, ke, v = 1.5 * np.exp(0.6 * normal()), 0.085 * np.exp(0.25 * normal()), 0.48 * np.exp(0.15 * normal())
            dose = 4.5 + 0.8 * normal()
            t = np.array([0, .25, .5, 1, 2, 3.5, 5, 7, 9, 12, 24]) * (1 + 0.02 * random.random(11))
            y = solve(lambda t, y: [-ka * y[0], ka * y[0] / v - ke * y[1]], [dose, 0], t)
            noisy = np.full(y.shape, np.nan)
            noisy[:, 1] = np.maximum(0, y[:, 1] * (1 + 0.08 * normal(len(t))) + 0.2 * normal(len(t))).round(2)
            noisy[0] = [round(dose, 2), 0]
            tables.append(frame(str(k + 1), t.round(2), states, noisy)); truths.append(frame(str(k + 1), t.round(2), states, y))
        return pd.concat(tables, ignore_index=True), pd.concat(truths, ignore_index=True)
    if name == "growth":
        t = np.arange(0, 170, 10.0)
        # Gompertz, logistic, logistic far from its end, and a slow exponential that wanes, in turn.
        f = [lambda y: 0.025 * y * np.log(300 / y), lambda y: 0.045 * y * (1 - y / 250), lambda y: 0.028 * y * (1 - y / 500),
             lambda y: 0.03 * y * (1 - (y / 200) ** 0.3)][replicate % 4]
        y = solve(lambda t, y: [f(y[0])], [5], t)
        return frame("a", t, states, (y * np.exp(0.012 * normal(y.shape)) + 0.5 * normal(y.shape)).round(1)), frame("a", t, states, y)
    if name == "mug":
        t = np.linspace(0, 180, 46).round(0)
        y = solve(lambda t, y: [-0.02 * (y[0] - 24) - 0.08 * (y[0] - y[1]), 0.08 * (y[0] - y[1]) - 0.006 * (y[1] - 24)], [95, 60], t)[:, :1]
        return frame("a", t, states, (y + 0.12 * normal(y.shape)).round(1)), frame("a", t, states, y)
    if name == "relaxation":
        t = np.linspace(0, 14, 36)
        y = solve(lambda t, y: [y[1], 1.2 * (1 - y[0] ** 2) * y[1] - y[0]], [1.5, 0], t)
        return frame("a", t, states, (y + 0.06 * y.std(0) * normal(y.shape)).round(3)), frame("a", t, states, y)
    if name == "chain":
        t = np.array([0, .5, 1, 1.5, 2, 3, 4, 5, 6.5, 8, 10, 12, 15, 18.0])
        y = solve(lambda t, y: [-0.5 * y[0], 0.5 * y[0] - 0.25 * y[1] ** 2 / (0.2 + y[1]), 0.25 * y[1] ** 2 / (0.2 + y[1])], [1, 0, 0], t)
        return frame("a", t, states, np.maximum(0, y + 0.012 * normal(y.shape)).round(3)), frame("a", t, states, y)
    if name == "brusselator":
        t = np.linspace(0, 20, 32)
        y = solve(lambda t, y: [1 - 3.2 * y[0] + y[0] ** 2 * y[1], 2.2 * y[0] - y[0] ** 2 * y[1]], [1.2, 2.6], t)
        return frame("a", t, states, np.maximum(0, y + 0.05 * y.std(0) * normal(y.shape)).round(3)), frame("a", t, states, y)
    if name == "pendulum":
        t = np.linspace(0, 16, 40)
        y = solve(lambda t, y: [y[1], -0.15 * y[1] - np.sin(y[0])], [2.0, 0], t)
        return frame("a", t, states, (y + 0.04 * y.std(0) * normal(y.shape)).round(3)), frame("a", t, states, y)
    if name == "twins":
        tables, truths = [], []
        for k in range(9):
            t = np.array([0, 1, 2, 3, 4, 6, 8, 11, 14, 18.0])
            y = solve(lambda t, y: [0.6 * y[0] * (1 - y[0] / 50)], [3 * np.exp(0.5 * normal())], t)
            tables.append(frame(str(k + 1), t, states, np.maximum(0, y + 2 * normal(y.shape)).round(1))); truths.append(frame(str(k + 1), t, states, y))
        return pd.concat(tables, ignore_index=True), pd.concat(truths, ignore_index=True)
    if name == "chicks":
        tables, truths = [], []
        for k in range(9):
            rate, top = 0.16 * np.exp(0.2 * normal()), 260 * np.exp(0.3 * normal())
            t = np.arange(0, 24, 2.0)
            y = solve(lambda t, y: [rate * y[0] * (1 - y[0] / top)], [41 + 2 * normal()], t)
            tables.append(frame(str(k + 1), t, states, (y * np.exp(0.03 * normal(y.shape))).round(0))); truths.append(frame(str(k + 1), t, states, y))
        return pd.concat(tables, ignore_index=True), pd.concat(truths, ignore_index=True)
    raise KeyError(name)
