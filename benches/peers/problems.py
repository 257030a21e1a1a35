"""Data sets of the constrained Neural ODE workloads (numpy only)."""
import numpy as np


def logistic(t, y0=2.518629, r=0.026, k=12.0):
    return (k / (1.0 + (k / y0 - 1.0) * np.exp(-r * t)))[:, None]


def oscillator(t, c=0.1):
    w, g = np.sqrt(1.0 - c * c / 4.0), c / 2.0
    e = np.exp(-g * t)
    x = e * (np.cos(w * t) + g / w * np.sin(w * t))
    v = -e * np.sin(w * t) / w
    return np.stack([x, v], 1)


def reaction(t, k1=0.1, k2=0.05):
    """Explicit Euler on the sampling grid itself, then each row divided by its sum."""
    dt, m = t[1] - t[0], np.zeros((len(t), 4))
    m[0] = [1, 1, 0, 0]
    for i in range(len(t) - 1):
        a, b, c, _ = m[i]
        m[i + 1] = m[i] + dt * np.array([-k1*a*b, -k1*a*b + k2*c, k1*a*b - k2*c, k1*a*b])
    return m / m.sum(1, keepdims=True)


SPEC = {
    "wpg": dict(sol=logistic, sizes=[1, 50, 50, 1], acts=["tanh", "elu"],
                grids=dict(train=np.linspace(0, 300, 200), extra=np.linspace(0, 400, 200),
                           compl=np.linspace(0, 300, 300))),
    "cr": dict(sol=reaction, sizes=[4, 50, 64, 50, 4], acts=["tanh", "elu", "tanh"],
               grids=dict(train=np.arange(100) * 1.0, extra=np.arange(100) * 2.0,
                          compl=np.arange(200) * 0.5)),
    "dho": dict(sol=oscillator, sizes=[2, 50, 50, 2], acts=["tanh", "elu"],
                grids=dict(train=np.linspace(0, 50, 400), extra=np.linspace(0, 400, 400),
                           compl=np.linspace(0, 50, 600))),
    "wide": dict(sizes=[64, 512, 512, 64], acts=["tanh", "elu"]),
}


def wide(columns):
    """Steps, initial states (columns x 64) and targets (101 x columns x 64): 64 decays at different rates."""
    t, rate = np.linspace(0, 1, 101), 0.5 + np.arange(64) / 64
    y0 = 1 + 0.01 * np.arange(columns)[:, None] + np.zeros(64)
    y = np.exp(-t[:, None] * rate)[:, None, :] * y0
    return np.diff(t).astype(np.float32), y0.astype(np.float32), y.astype(np.float32)


def constraints(name, y):
    """(equality residuals, inequality residuals); y may be numpy, torch or jax, time first."""
    if name == "wpg":
        return [], [y[..., 0] - 12.0]
    if name == "cr":
        return [y.sum(-1) - 1.0], []
    x, v = y[..., 0], y[..., 1]
    e, p = 0.5 * v * v + 0.5 * x * x, -0.1 * v * x
    return [p[1:] - p[:-1]], [e[1:] - e[:-1]]


def init_params(name, seed):
    r, s = np.random.default_rng(seed), SPEC[name]["sizes"]
    return [(r.normal(0, 0.1, (i, o)).astype(np.float32), np.zeros(o, np.float32))
            for i, o in zip(s[:-1], s[1:])]


def trained_params(name, folder):
    """Weights (inputs x outputs) and biases of each layer, from a row of little-endian 32-bit floats."""
    row, at, params, s = np.fromfile(f"{folder}/{name}.f32", "<f4"), 0, [], SPEC[name]["sizes"]
    for i, o in zip(s[:-1], s[1:]):
        params.append((row[at:at + i * o].reshape(i, o), row[at + i * o:at + i * o + o]))
        at += i * o + o
    return params
