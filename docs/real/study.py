#!/usr/bin/env python3
"""Trains on measured (or simulated) data sets with cells held out, and scores predictions and intervals beside other methods.

    study.py LAWFUL --out results.csv [--simulated REPLICATES] [--sets a,b] [--tasks interpolation,forecast,subjects] [--seeds 3] [--jobs 2]
             [--extra FILE] [--folder DIR] [--no-baselines]

A row for each set, task, replicate, seed and method:
  cells      measured cells that are held out
  error      root mean square on held-out cells, in standard deviations of the state over all its data (simulated: against the truth)
  coverage   share of held-out measured cells within the 90 % interval
  score      mean interval score (Gneiting and Raftery 2007) of the 90 % interval, in standard deviations
  violation  the worst law on a dense grid from the first to the last time: sums as a share of the sum, others in standard deviations
  seconds    processor time of the training
Interpolation holds out every fourth interior row, forecast the last quarter, subjects every fourth trajectory (its first row is given).
The last time of the data is declared as `[system] horizon`. Needs numpy, pandas, scipy and scikit-learn.
"""
import argparse, io, json, math, os, re, resource, shutil, subprocess, sys, tempfile, tomllib, warnings
from concurrent.futures import ThreadPoolExecutor
import numpy as np, pandas as pd
import simulated

HERE = os.path.dirname(os.path.abspath(__file__))
REAL = os.path.join(HERE, "../../experiments/real")
ALPHA = 0.1


def measured_sets():
    """What is told of the measured sets: their experiment files."""
    sets = {}
    for name in ("hares", "flu", "hagelloch", "theoph", "uspop", "cooling"):
        with open(f"{REAL}/{name}.toml", "rb") as f: told = tomllib.load(f)
        states = told["system"]["state"]
        score = {"flu": ["I"], "theoph": ["conc"]}.get(name, states)
        sets[name] = dict(states=states, laws=[law["holds"] for law in told["law"]], score=score, subjects=name == "theoph")
    return sets


def held_out(df, task):
    out = np.zeros(len(df), bool)
    for k, run in enumerate(dict.fromkeys(df.run)):
        i = np.flatnonzero(df.run.values == run)
        n = len(i)
        if task == "interpolation": out[[i[j] for j in range(n - 1) if j % 4 == 2]] = True
        elif task == "forecast": out[i[n - max(1, round(n * .25)):]] = True
        elif k % 4 == 2: out[i] = True
    return out


def size(df, state):
    """Standard deviation; of what was hardly measured, its largest value or that of the others."""
    cells = df[state].dropna()
    if len(cells) > 3 and cells.std(ddof=0) > 0: return cells.std(ddof=0)
    top = cells.max() if len(cells) else 0.0
    return top if top > 0 else df.drop(columns=["run", "t"]).max().max()


def violation(df, law, y):
    """The largest violation of a law on the curves y."""
    left, relation, right = re.match(r"(.*?)(==|<=|>=)(.*)", law).groups()
    value = lambda text: eval(text.replace("^", "**"), {"cos": np.cos}, y)
    if "next(" in left:
        change = np.diff(value(right)) * (1 if relation == "<=" else -1)
        unit = size(df, right.strip()) if right.strip() in df else np.ptp(value(right))
        return float(np.sum(np.maximum(0, change))) / unit
    excess = value(left) - value(right)
    if relation == "==": return float(np.max(np.abs(excess))) / abs(float(value(right)))
    return max(0.0, float(np.max(excess if relation == "<=" else -excess))) / size(df, left.strip())


def experiment(name, spec, held, horizon, extra):
    quote = json.dumps
    lines = [f'name = "{name}"', "[system]", "state = " + quote(spec["states"])]
    if spec["laws"]: lines.append(f"horizon = {float(horizon)}")
    for n, law in enumerate(spec["laws"]): lines += ["[[law]]", f'name = "law {n + 1}"', f"holds = {quote(law)}"]
    lines += ["[data]", 'file = "train.csv"', 'trajectory = "run"']
    if held: lines += ["[test.subjects]", "trajectories = " + quote(held)]
    return "\n".join(lines) + "\n" + extra


def interval_score(low, high, y):
    return (high - low) + 2 / ALPHA * np.maximum(0, low - y) + 2 / ALPHA * np.maximum(0, y - high)


def summary(df, truth, spec, rows, curves):
    """Error, coverage and interval score of predictions {run: (t, {state: (mean, low, high)})} on these rows."""
    squares, inside, scores = [], [], []
    for run, (t, y) in curves.items():
        own = rows & (df.run == run)
        for s in spec.get("score") or spec["states"]:
            unit = df[s].std(ddof=0)
            known = own & df[s].notna()
            at = lambda curve: np.interp(df.t[known], t, curve)
            mean, low, high = map(at, y[s])
            squares += list(((mean - truth[s][known]) / unit) ** 2)
            inside += list((df[s][known] >= low) & (df[s][known] <= high))
            scores += list(interval_score(low, high, df[s][known]) / unit)
    return dict(cells=len(squares), error=math.sqrt(np.mean(squares)), coverage=float(np.mean(inside)), score=float(np.mean(scores)))


def lawful(program, name, spec, df, truth, task, seed, extra, folder):
    out = held_out(df, task)
    held = list(dict.fromkeys(df.run[out])) if task == "subjects" else []
    where = tempfile.mkdtemp(prefix=f"{name}-{task}-{seed}-", dir=folder)
    (df if held else df[~out]).to_csv(f"{where}/train.csv", index=False)
    with open(f"{where}/experiment.toml", "w") as f: f.write(experiment(name, spec, held, df.t.max(), extra))
    seconds = [0.0]

    def call(*arguments):
        p = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with p.stdout, p.stderr, ThreadPoolExecutor(1) as other:
            errors = other.submit(p.stderr.read)
            printed = p.stdout.read()
            errors = errors.result()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        seconds[0] += usage.ru_utime + usage.ru_stime
        return p.returncode, printed, errors

    failed = dict(cells=0, error=math.inf, coverage=math.nan, score=math.inf, violation=math.nan, seconds=math.nan)
    code, printed, talk = call("train", f"{where}/experiment.toml", "--out", f"{where}/runs", "--seed", str(seed))
    training = seconds[0]
    with open(f"{where}/log.txt", "w") as f: f.write(printed + talk)
    runs = sorted(os.listdir(f"{where}/runs")) if os.path.isdir(f"{where}/runs") else []
    if code or not runs: return failed
    curves, worst = {}, 0.0
    states = spec["states"]
    for run in held or list(dict.fromkeys(df.run)):
        rows = df[df.run == run]
        few = 500 if df.run.nunique() < 5 else 120
        times = np.unique(np.concatenate([np.linspace(rows.t.iloc[0], rows.t.iloc[-1], few), rows.t]))
        pd.DataFrame({"t": times}).to_csv(f"{where}/at.csv", index=False)
        first = rows.iloc[0]
        initial = ["--initial", ",".join(f"{s}={float(first[s])}" for s in states)] if held else []
        code, printed, talk = call("predict", f"{where}/runs/{runs[-1]}", "--at", f"{where}/at.csv", "--trajectory", run, "--interval", "0.9", *initial)
        if code:
            code, printed, talk = call("predict", f"{where}/runs/{runs[-1]}", "--at", f"{where}/at.csv", "--trajectory", run, *initial)
            if code: return failed
        c = pd.read_csv(io.StringIO(printed))
        curve = {s: c[s].values for s in states}
        nothing = np.full(len(c), math.nan)
        band = lambda s, end: c[f"{s}.{end}"].values if f"{s}.{end}" in c else nothing
        curves[run] = (c.t.values, {s: (curve[s], band(s, "low"), band(s, "high")) for s in states})
        for law in spec["laws"]:
            v = violation(df, law, curve)
            worst = max(worst, v) if math.isfinite(v) else math.inf
    rows = out.copy()
    if held: rows[[np.flatnonzero(df.run.values == run)[0] for run in held]] = False
    return dict(summary(df, truth, spec, rows, curves), violation=worst, seconds=training)


def baselines(spec, df, truth, task):
    """A Gaussian process, splines and the last value, each state and trajectory for itself; of new subjects, a Gaussian process of time and first row."""
    from scipy.interpolate import CubicSpline, PchipInterpolator
    from sklearn.gaussian_process import GaussianProcessRegressor as Process
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    out = held_out(df, task)
    scored = spec.get("score") or spec["states"]
    quantile = 1.6448536269514722

    def process(x, y, at):
        unit, centre = y.std() or 1.0, y.mean()
        low, high = x.min(0), x.max(0)
        scale = np.where(high > low, high - low, 1.0)
        kernel = ConstantKernel(1.0) * RBF(np.full(x.shape[1], 0.1), (0.02, 5.0)) + WhiteKernel(0.1, (1e-6, 1.0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Process(kernel, n_restarts_optimizer=9, random_state=0).fit((x - low) / scale, (y - centre) / unit)
            mean, spread = model.predict((at - low) / scale, return_std=True)
        return centre + unit * mean, unit * spread

    found = {}
    for method in ("gp", "cubic", "pchip", "last"):
        if task == "subjects" and method != "gp" or task == "forecast" and method in ("cubic", "pchip") or task == "interpolation" and method == "last": continue
        curves = {}
        for run in dict.fromkeys(df.run[out]):
            rows = df[df.run == run]
            y = {}
            for s in scored:
                nothing = np.full(len(rows), math.nan)
                if task == "subjects":
                    firsts = df.groupby("run", sort=False)[spec["states"]].first()
                    features = lambda part: np.column_stack([part.t, firsts.loc[part.run].values])
                    known = df[~out & df[s].notna()]
                    mean, spread = process(features(known), known[s].values, features(rows))
                    y[s] = (mean, mean - quantile * spread, mean + quantile * spread)
                    continue
                known = rows[(~out & (df.run == run))[rows.index] & rows[s].notna()]
                t, cells = known.t.values, known[s].values
                if method == "gp":
                    mean, spread = process(t[:, None], cells, rows.t.values[:, None])
                    y[s] = (mean, mean - quantile * spread, mean + quantile * spread)
                else:
                    curve = {"cubic": CubicSpline, "pchip": PchipInterpolator}.get(method, lambda t, c: lambda at: np.full(len(at), c[-1]))(t, cells)
                    y[s] = (curve(rows.t.values), nothing, nothing)
            curves[run] = (rows.t.values, y)
        rows = out.copy()
        if task == "subjects": rows[[np.flatnonzero(df.run.values == run)[0] for run in curves]] = False
        found[method] = summary(df, truth, spec, rows, curves)
    return found


def main():
    a = argparse.ArgumentParser()
    a.add_argument("program")
    for option in ("--sets", "--tasks", "--extra", "--folder", "--out"): a.add_argument(option)
    a.add_argument("--simulated", type=int, default=0); a.add_argument("--seeds", type=int, default=3); a.add_argument("--jobs", type=int, default=1)
    a.add_argument("--no-baselines", action="store_true")
    a = a.parse_args()
    extra = open(a.extra).read() if a.extra else ""
    folder = a.folder or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    sets = simulated.SETS if a.simulated else measured_sets()
    jobs = []
    for name in a.sets.split(",") if a.sets else sets:
        for task in ("interpolation", "forecast", "subjects"):
            if (a.tasks and task not in a.tasks.split(",")) or (task == "subjects" and not sets[name].get("subjects")): continue
            jobs += [(name, task, replicate) for replicate in range(max(1, a.simulated))]

    def do(job):
        name, task, replicate = job
        spec = sets[name]
        if a.simulated: df, truth = simulated.make(name, replicate)
        else:
            df = pd.read_csv(f"{REAL}/{name}.csv", dtype={"run": str})
            truth = df
        label = dict(set=name, task=task, replicate=replicate)
        rows = [dict(label, seed=seed, method="lawful", **lawful(a.program, name, spec, df, truth, task, seed, extra, folder)) for seed in range(1, a.seeds + 1)]
        if not a.no_baselines: rows += [dict(label, seed=0, method=m, **r) for m, r in baselines(spec, df, truth, task).items()]
        return rows

    rows = []
    with ThreadPoolExecutor(a.jobs) as pool:
        for found in pool.map(do, jobs):
            rows += found
            first = found[0]
            print(f"{first['set']} {first['task']}: " + ", ".join(f"{r['method']} {r['error']:.3g} ({r['coverage']:.0%}, {r['score']:.3g})" for r in found), file=sys.stderr, flush=True)
    results = pd.DataFrame(rows)
    if a.out: results.to_csv(a.out, index=False, float_format="%.6g")
    show(results)
    if not a.folder: shutil.rmtree(folder)


def show(results):
    """Medians of sets and tasks, and geometric means."""
    ours = results[results.method == "lawful"]
    table = ours.groupby(["set", "task"], sort=False).agg(error=("error", "median"), worst=("error", "max"), coverage=("coverage", "mean"), score=("score", "median"),
                                                           violation=("violation", "max"), seconds=("seconds", "mean"))
    others = results[results.method != "lawful"].groupby(["set", "task", "method"], sort=False).error.median().unstack()
    scores = results[results.method == "gp"].groupby(["set", "task"], sort=False).score.median().rename("gp score")
    print(table.join(others).join(scores).to_string(float_format=lambda x: f"{x:.3g}"))
    for task, part in table.groupby("task", sort=False):
        own = ours[ours.task == task]
        cells = np.average(own.coverage, weights=own.cells) if own.cells.sum() else math.nan
        line = f"{task}: coverage of all cells {cells:.0%}, geometric mean {np.exp(np.log(part.error).mean()):.4g}, coverage {part.coverage.mean():.0%}, interval score {np.exp(np.log(part.score).mean()):.4g}, worst/median {np.max(part.worst / part.error):.2f}"
        print(line)


if __name__ == "__main__": main()
