"""The exact posterior of a constant rate, x = x0 + a t, with MacKay's evidence for the noise; plain Python.

Prints the numbers of `a_linear_model_has_the_exact_posterior` in `intervals.rs`.
"""

import math

Y = [1.02, 1.41, 2.13, 2.44, 2.91, 3.68, 3.94, 4.46, 5.12, 5.43, 6.05, 6.41]
START, PRIOR, N0, SIZE = 0.3, (1e-4, 1.0), 1.0, 0.05  # of the rate; of raw number (without bounds) and z; of the noise

n = len(Y)
mean = sum(Y) / n
unit = math.sqrt(sum((y - mean) ** 2 for y in Y) / n)

# r = J x + c, with x = (raw, z), rate = START (1 + raw) and x0 = Y[0] + unit z.
J = [(START * t / unit, 1.0) for t in range(n)]
c = [(Y[0] + START * t - Y[t]) / unit for t in range(n)]


def inverse(m):
    (p, q), (_, s) = m
    d = p * s - q * q
    return (s / d, -q / d), (-q / d, p / d)


beta = 100.0
for _ in range(10000):
    G = [[sum(j[i] * j[k] for j in J) for k in range(2)] for i in range(2)]
    H = [[beta * G[i][k] + (PRIOR[i] if i == k else 0.0) for k in range(2)] for i in range(2)]
    C = inverse(H)
    g = [beta * sum(j[i] * r for j, r in zip(J, c)) for i in range(2)]
    x = [-sum(C[i][k] * g[k] for k in range(2)) for i in range(2)]
    r = [sum(j[i] * x[i] for i in range(2)) + e for j, e in zip(J, c)]
    gamma = beta * sum(C[i][k] * G[k][i] for i in range(2) for k in range(2))
    beta = (n - gamma + N0) / (sum(e * e for e in r) + N0 * SIZE**2)


def t_quantile(p, v):
    """By Simpson's rule and bisection."""
    density = lambda t: math.exp(math.lgamma((v + 1) / 2) - math.lgamma(v / 2)) / math.sqrt(v * math.pi) * (1 + t * t / v) ** (-(v + 1) / 2)

    def below(t, m=4000):
        h = t / m
        odd = sum(density((2 * k + 1) * h) for k in range(m // 2))
        even = sum(density(2 * k * h) for k in range(1, m // 2))
        return 0.5 + (density(0) + density(t) + 4 * odd + 2 * even) * h / 3

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


freedom = n - gamma + N0
print(f"rate {START * (1 + x[0])!r}, standard error {START * math.sqrt(C[0][0])!r}")
print(f"noise {unit / math.sqrt(beta)!r}, degrees of freedom {freedom!r}")
for t in (5.5, 20.0):
    gradient = (START * t / unit, 1.0)
    spread = sum(gradient[i] * C[i][k] * gradient[k] for i in range(2) for k in range(2))
    centre = Y[0] + unit * x[1] + START * (1 + x[0]) * t
    reach = [t_quantile(0.95, freedom) * unit * math.sqrt(spread + noise) for noise in (1 / beta, 0.0)]
    print(f"t {t}: centre {centre!r}, half width {reach[0]!r}, without noise {reach[1]!r}")
