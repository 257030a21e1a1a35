#!/usr/bin/env python3
"""Measures the models of docs/strategies/update, writes results.csv, flu.csv and recipes.csv beside itself, and prints the tables
of docs/strategies.md: docs/strategies/tables.py FOLDER LAWFUL"""
import csv, json, math, os, subprocess, sys
from statistics import median

out, lawful = sys.argv[1], sys.argv[2]
here = os.path.dirname(os.path.abspath(__file__))
FALSE = "the sick-rooms suffice"
# Worst of ten seeds of the self-adaptive strategy, docs/recipes.md: reconstruction and extrapolation.
DOCUMENTED = {"epidemic": (4.30e-13, 2.53e-12), "oscillator": (7.08e-13, 3.11e-11),
              "population": (2.07e-14, 6.63e-11), "reaction": (2.22e-14, 4.43e-9)}


def short(x):
    if x is None or math.isnan(x):
        return "–"
    if math.isinf(x):
        return "∞"
    if x == 0:
        return "0"
    return f"{x:.3g}" if 1e-3 <= abs(x) < 1e4 else f"{x:.1e}".replace("e-0", "e-").replace("e+0", "e")


def spread(values):
    return f"{short(median(values))} [{short(min(values))} – {short(max(values))}]"


def load(name):
    with open(os.path.join(out, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def ask(command, folder, *options):
    """What a command prints about a run; a finished answer is kept beside the run."""
    done = subprocess.run([lawful, command, folder, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"lawful {command} {folder}: {done.stderr}")
    return done.stdout


def laws(folder, horizon=None):
    options = [] if horizon is None else ["--horizon", str(horizon)]
    return json.loads(ask("evaluate", folder, "--json", *options))["laws"]


def number(value):
    return math.inf if value is None else value


def write(name, header, rows):
    with open(os.path.join(here, name), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


systems = load("systems")
runs = {}
for line in systems["runs"]:
    key = (line["experiment"], line["levels"]["strategy"], line["seed"])
    run = runs.setdefault(key, {"mse": {}, "largest": number(line["largest_violation"]), "evaluations": line["evaluations"],
                                "folder": os.path.join(out, "systems", "runs", line["run"])})
    run["mse"][line["set"]] = number(line["mse"])
for (experiment, strategy, _), run in runs.items():
    run["ten"], run["false"] = "", ""
    if strategy == "auto":
        with open(os.path.join(run["folder"], "predictions-reconstruction.csv"), encoding="utf-8") as file:
            last = float(list(csv.DictReader(file))[-1]["t"])
        hard = [law for law in laws(run["folder"], 10 * last) if law["status"] in ("guaranteed", "guarantee-failed")]
        run["ten"] = max(law["percent"] for law in hard) / 100
        run["hard"] = len(hard)
    if experiment == "false-law":
        run["false"] = next(law["violation"] for law in laws(run["folder"]) if law["name"] == FALSE)
write("results.csv",
      ["experiment", "strategy", "seed", "reconstruction", "between", "beyond", "largest_violation", "evaluations",
       "at_ten_times", "false_law_off_by"],
      [[*key, run["mse"]["reconstruction"], run["mse"]["between"], run["mse"]["beyond"], run["largest"], run["evaluations"],
        run["ten"], run["false"]] for key, run in runs.items()])


def of(experiment, strategy):
    return [run for (e, s, _), run in runs.items() if (e, s) == (experiment, strategy)]


print("\n## The systems\n")
print("Median and range over ten seeds. Errors are mean squared errors on new times between the rows and on twice the time; the "
      "violation is the largest of any law that the data do not contradict, on a dense grid up to there, as a share of the law's "
      "size. The verdict is that of `lawful compare`: against the strategy of lowest error among those that keep the laws to 1e-3, "
      "by rank tests with Holm's correction.")
criteria = []
for ranking in systems["rankings"]:
    name = ranking["experiment"]
    print(f"\n### {name}\n")
    print("| strategy | error between | error beyond | violation | evaluations | seconds | p | verdict |")
    print("|---|---|---|---|---|---|---|---|")
    for entry in ranking["strategies"]:
        own = of(name, entry["strategy"])
        sets = {on["set"]: on for on in entry["sets"]}
        p = "" if entry["p"] is None else short(entry["p"])
        print(f"| `{entry['strategy']}` | {spread([run['mse']['between'] for run in own])} "
              f"| {spread([run['mse']['beyond'] for run in own])} | {spread([run['largest'] for run in own])} "
              f"| {entry['evaluations']:.0f} | {short(entry['seconds'])} | {p} | {entry['mark']} |")
        assert set(sets) == {"reconstruction", "between", "beyond"}
    print(f"\n{ranking['recommendation']}")
    for out_of in systems["left_out"]:
        if out_of["experiment"] == name:
            print(f"\n`{out_of['strategy']}` is left out: {out_of['reason']}.")
    hard = of(name, "auto")
    row = [name, f"{hard[0]['hard']}", short(max(run["ten"] for run in hard))]
    for kind in ("between", "beyond"):
        own = median([run["mse"][kind] for run in hard])
        soft = {entry["strategy"]: median([run["mse"][kind] for run in of(name, entry["strategy"])])
                for entry in ranking["strategies"] if entry["strategy"] != "auto"}
        best = min(soft, key=soft.get)
        good = own <= 2 * soft[best] or own < 1e-9
        row += [short(own), f"{short(soft[best])} (`{best}`)", "yes" if good else f"no: {own / soft[best]:.1f} times"]
    criteria.append(row)

print("\n## The guaranteed form\n")
print("`auto`: the laws that the form of the field guarantees, the largest violation of any of them at ten times the time of the "
      "data in any of ten seeds, and the median error beside the lowest median of all other strategies, whether that one keeps the "
      "laws or not. Wanted: at most 1e-10, and an error of at most twice the other, or below 1e-9.\n")
print("| system | guaranteed laws | violation, worst | between | best other | wanted? | beyond | best other | wanted? |")
print("|---|---|---|---|---|---|---|---|---|")
for row in criteria:
    print(f"| {' | '.join(row)} |")

print("\n## A false law\n")
print(f"The epidemic with `{FALSE}`: I ≤ 0.25, where the truth rises to 0.40. By how much I exceeds 0.25 (truth: 0.15), "
      "and the error, median and range of ten seeds.\n")
print("| strategy | I above 0.25 by | error between | what it does |\n|---|---|---|---|")
true_peak = 0.1523
for entry in next(r for r in systems["rankings"] if r["experiment"] == "false-law")["strategies"]:
    own = of("false-law", entry["strategy"])
    off, error = median([run["false"] for run in own]), median([run["mse"]["between"] for run in own])
    what = "follows the data" if off > 0.9 * true_peak else "follows the law" if off < 0.1 * true_peak else "is torn between"
    print(f"| `{entry['strategy']}` | {spread([run['false'] for run in own])} | {spread([run['mse']['between'] for run in own])} | {what} |")
for false in systems["false_laws"]:
    print(f"\nThe audit of {false['experiment']}: {false['reason']}.")

print("\n## The influenza of 1978\n")
with open("experiments/real/flu.csv", encoding="utf-8") as file:
    measured = [(float(row["t"]), float(row["I"])) for row in csv.DictReader(file) if row["I"]]
N = 763.0
flu_rows = []
for line in load("flu")["runs"]:
    folder = os.path.join(out, "flu", "runs", line["run"])
    path = list(csv.DictReader(ask("predict", folder, "--from", "0", "--to", "20", "--points", "2000").splitlines()))
    S, I, R = ([float(row[name]) for row in path] for name in "SIR")
    rows = {float(r["t"]): float(r["I"]) for r in
            csv.DictReader(ask("predict", folder, "--at", "experiments/real/flu.csv").splitlines())}
    rmse = math.sqrt(sum((rows[t] - i) ** 2 for t, i in measured) / len(measured))
    worst = max(max(abs(s + i + r - N) for s, i, r in zip(S, I, R)), max(b - a for a, b in zip(S, S[1:])),
                max(a - b for a, b in zip(R, R[1:])), max(-x for x in S + I + R), 0.0)
    flu_rows.append([line["seed"], rmse, worst / N, line["evaluations"], line["seconds"]])
write("flu.csv", ["seed", "rmse_of_I", "largest_violation_over_N", "evaluations"], [row[:4] for row in flu_rows])
good = sum(row[1] <= 16.6 and row[2] <= 1e-6 for row in flu_rows)
print("`experiments/real/flu.toml`, the defaults, ten seeds: 763 pupils, of whom only the ill were counted. The root mean squared error of I at "
      "the rows (the parametric SIR model: 16.6), and the largest violation of any law on 2000 points from day 0 to day 20, as a share of N.\n")
print("| | median | worst | wanted |\n|---|---|---|---|")
print(f"| RMSE of I, pupils | {short(median([r[1] for r in flu_rows]))} | {short(max(r[1] for r in flu_rows))} | ≤ 16.6 |")
print(f"| largest violation / N | {short(median([r[2] for r in flu_rows]))} | {short(max(r[2] for r in flu_rows))} | ≤ 1e-6 |")
print(f"| seconds | {short(median([r[4] for r in flu_rows]))} | {short(max(r[4] for r in flu_rows))} | |")
print(f"\n{good} of {len(flu_rows)} seeds have both.")

print("\n## The recipes' systems under `auto`\n")
recipes = {}
for line in load("recipes")["runs"]:
    run = recipes.setdefault((line["experiment"], line["seed"]), {"largest": number(line["largest_violation"])})
    run[line["set"]] = number(line["mse"])
write("recipes.csv", ["experiment", "seed", "reconstruction", "extrapolation", "completion", "largest_violation"],
      [[*key, run["reconstruction"], run["extrapolation"], run["completion"], run["largest"]] for key, run in recipes.items()])
print("`experiments/recipes`, whose files name the self-adaptive strategy, with `auto` in its place, " + f"{len({seed for _, seed in recipes})} seeds. " + "Wanted: an error of at most twice the worst of the "
      "self-adaptive strategy (docs/recipes.md) or below 1e-12, and violations of at most 1e-9 of the law's size.\n")
print("| system | set | median | worst | self-adaptive, worst | wanted? | largest violation | wanted? |\n|---|---|---|---|---|---|---|---|")
for name, documented in DOCUMENTED.items():
    own = [run for (experiment, _), run in recipes.items() if experiment == name]
    if not own:
        continue
    for kind, before in zip(("reconstruction", "extrapolation"), documented):
        worst = max(run[kind] for run in own)
        largest = max(run["largest"] for run in own)
        fit = "yes" if worst <= 2 * before or worst < 1e-12 else f"no: {worst / before:.1f} times"
        print(f"| {name} | {kind} | {short(median([run[kind] for run in own]))} | {short(worst)} | {short(before)} | {fit} "
              f"| {short(largest)} | {'yes' if largest <= 1e-9 else 'no'} |")
