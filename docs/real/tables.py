#!/usr/bin/env python3
"""Prints the tables of docs/real-data.md: docs/real/tables.py results.csv"""
import sys
import numpy as np, pandas as pd

results = pd.read_csv(sys.argv[1])
ours, others = results[results.method == "lawful"], results[results.method != "lawful"]
three = lambda x: f"{x:.3g}"
print("| set | task | lawful | Gaussian process | best of splines, last value | 90 % interval holds | its score | Gaussian process's | largest violation | seconds |")
print("|---|---|---|---|---|---|---|---|---|---|")
for (name, task), runs in ours.groupby(["set", "task"], sort=False):
    rest = others[(others.set == name) & (others.task == task)].set_index("method")
    simple = rest.error.drop("gp", errors="ignore")
    best = three(simple.min()) if len(simple) else "–"
    error = f"{three(runs.error.median())} ({three(runs.error.min())} – {three(runs.error.max())})"
    if runs.error.median() > rest.error["gp"]: error = f"**{error}**"
    print(f"| {name} | {task} | {error} | {three(rest.error['gp'])} | {best} | {runs.coverage.mean():.0%} | {three(runs.score.median())} | "
          f"{three(rest.score['gp'])} | {f'{worst:.0e}' if (worst := runs.violation.max()) else '0'} | {runs.seconds.mean():.1f} |")
print()
print("| task | geometric mean error | Gaussian process | 90 % intervals hold, of all cells | geometric mean of interval scores | Gaussian process | worst seed / median |")
print("|---|---|---|---|---|---|---|")
mean = lambda x: three(np.exp(np.log(x).mean()))
for task, runs in ours.groupby("task", sort=False):
    medians = runs.groupby("set")[["error", "score"]].median()
    process = others[(others.task == task) & (others.method == "gp")]
    spread = (runs.groupby("set").error.max() / medians.error).max()
    print(f"| {task} | {mean(medians.error)} | {mean(process.error)} | {np.average(runs.coverage, weights=runs.cells):.0%} | {mean(medians.score)} | "
          f"{mean(process.score)} | {spread:.2f} |")
