#!/usr/bin/env python3
"""Factors by which laws reduce the error, from a comparison's runs.csv: docs/scarce/plot.py scarce/runs.csv
Writes factors.png and factors.svg beside itself and prints the tables of docs/scarce-data.md. Needs NumPy, SciPy and Matplotlib."""
import csv, os, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t as student

here = os.path.dirname(os.path.abspath(__file__))
rows = list(csv.DictReader(open(sys.argv[1])))
systems = list(dict.fromkeys(row["experiment"] for row in rows))
noises, points = (list(dict.fromkeys(row[axis] for row in rows)) for axis in ("noise", "points"))
cells = list(dict.fromkeys(row["cells"] for row in rows))
mse = {}
for row in rows:
    key = (row["experiment"], row["noise"], row["points"], row["cells"], row["laws"], row["seed"], row["set"])
    mse[key] = float(row["mse"]) if row["mse"] else float("nan")
seeds = list(dict.fromkeys(row["seed"] for row in rows))


def factor(system, noise, point, cell, of="truth"):
    """Geometric mean over seeds of error without laws / error with laws, and its 95 % interval."""
    pairs = [(mse.get((system, noise, point, cell, "off", seed, of), np.nan),
              mse.get((system, noise, point, cell, "on", seed, of), np.nan)) for seed in seeds]
    logs = np.array([np.log(off / on) for off, on in pairs if off > 0 and on > 0])
    if len(logs) == 0:
        return None
    half = student.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else np.nan
    return np.exp(logs.mean()), np.exp(logs.mean() - half), np.exp(logs.mean() + half)


def median(system, noise, point, cell, laws, of="truth"):
    values = [mse.get((system, noise, point, cell, laws, seed, of), np.nan) for seed in seeds]
    values = [value for value in values if not np.isnan(value)]
    return np.median(values) if values else np.nan


marks = dict(zip(noises, "osD^"))
figure, axes = plt.subplots(len(cells), len(systems), figsize=(3 * len(systems), 2.7 * len(cells)), sharey=True, squeeze=False)
for i, cell in enumerate(cells):
    for j, system in enumerate(systems):
        ax = axes[i][j]
        ax.axhline(1, color="black", linewidth=0.8)
        for n, noise in enumerate(noises):
            found = [(k, factor(system, noise, point, cell)) for k, point in enumerate(points)]
            found = [(k, f) for k, f in found if f]
            if found:
                x = [k + 0.13 * (n - 1.5) for k, _ in found]
                y = [f[0] for _, f in found]
                error = np.nan_to_num([[f[0] - f[1] for _, f in found], [f[2] - f[0] for _, f in found]])
                ax.errorbar(x, y, yerr=np.abs(error), fmt=marks[noise], markersize=4, linewidth=0.8, label=f"noise {noise}")
        ax.set_yscale("log")
        ax.set_ylim(1e-2, 1e5)
        ax.set_xticks(range(len(points)), points)
        if i == 0:
            ax.set_title(system)
        if i == len(cells) - 1:
            ax.set_xlabel("points")
        if j == 0:
            ax.set_ylabel(f"{cell}\nerror without / with laws")
        if not ax.lines[1:]:
            ax.text(0.5, 0.5, "one state only", ha="center", transform=ax.transAxes)
axes[0][0].legend(fontsize=7)
figure.suptitle("How many times smaller the error to the truth is with laws (geometric mean over seeds, 95 % interval)")
figure.tight_layout()
for ending in ("png", "svg"):
    figure.savefig(os.path.join(here, f"factors.{ending}"), dpi=90, metadata={"Date": None} if ending == "svg" else None)

print(f"{len(seeds)} seeds. Median MSE to the truth without → with laws, and the factor with its 95 % interval.\n")
for cell in cells:
    print(f"### Cells: {cell}\n\n| system | noise | " + " | ".join(f"{point} points" for point in points) + " |")
    print("|---|---|" + "---|" * len(points))
    for system in systems:
        for noise in noises:
            entries = []
            for point in points:
                f = factor(system, noise, point, cell)
                if f is None:
                    entries.append("–")
                    continue
                off, on = (median(system, noise, point, cell, laws) for laws in ("off", "on"))
                interval = "" if np.isnan(f[1]) else f" ({f[1]:.2g} … {f[2]:.2g})"
                entries.append(f"{off:.1e} → {on:.1e}: {f[0]:.2g}{interval}")
            if any(entry != "–" for entry in entries):
                print(f"| {system} | {noise} | " + " | ".join(entries) + " |")
    print()
