"""Draws what `benches/scaling` measured: milliseconds per iteration against steps, width and columns, both on log axes."""
import csv, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

rows = list(csv.DictReader(open(sys.argv[1])))
panels = [("steps", "steps (network 2–50–50–2, 1 column)"), ("width", "width of two hidden layers (100 steps, 1 column)"),
          ("columns", "columns (network 2–50–50–2, 100 steps)")]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), constrained_layout=True)
for axis, (vary, label) in zip(axes, panels):
    for precision, style in (("single", "o-"), ("double", "s--")):
        points = [(int(r["value"]), float(r["milliseconds"])) for r in rows if (r["vary"], r["precision"]) == (vary, precision)]
        axis.loglog(*zip(*points), style, label=precision, markersize=4)
    axis.set_xlabel(label, fontsize=9)
    axis.grid(True, which="major", linewidth=0.4)
axes[0].set_ylabel("milliseconds per training iteration")
axes[0].legend(frameon=False)
figure.savefig(sys.argv[2], dpi=150)
