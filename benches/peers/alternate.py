"""Measures lawful and its peers alternately on one core and prints the ratios. Called by `run`.

An alternation goes through all cases (workload, solver, columns) and measures each with one peer after the other, in turn
forwards and backwards: what is compared is measured within seconds, so that the machine's mood, which changes over
minutes, is the same for all."""
import argparse, csv, datetime, glob, os, platform, shutil, statistics, subprocess, sys

ap = argparse.ArgumentParser()
ap.add_argument("--rounds", type=int, default=21)
ap.add_argument("--core", default="0")
ap.add_argument("--history", default="", help="folder for a dated CSV of the medians")
ap.add_argument("--from", dest="origin", default=".", help="folder that --history is relative to")
ap.add_argument("--check", action="store_true", help="only look at the arguments")
args = ap.parse_args()
if args.rounds < 2:
    ap.error("--rounds must be at least 2: with one, nothing alternates")
if args.check:
    sys.exit()
if args.history:  # now, not after all the measuring
    os.makedirs(os.path.join(args.origin, args.history), exist_ok=True)
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "..", "..")
pin = ["taskset", "-c", args.core] if shutil.which("taskset") else []
target = os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target"))
binary = max((f for f in glob.glob(os.path.join(target, "release", "deps", "peers-*")) if not f.endswith(".d")), key=os.path.getmtime)
commands = {"lawful": [binary, "--serve"],
            "jax": [sys.executable, os.path.join(here, "bench_jax.py"), "--serve"],
            "torch": [sys.executable, os.path.join(here, "bench_torch.py"), "--serve"]}

def lines(name):
    """What a worker says until `ready` or `end`."""
    while (line := workers[name].stdout.readline().strip()) not in ("ready", "end"):
        if not line and workers[name].poll() is not None:
            sys.exit(f"{name} ended with code {workers[name].returncode}")
        yield line


workers, cases = {}, {}  # case: the workers that have it
for name, command in commands.items():
    print(f"starting {name} (peers compile before they are timed)", file=sys.stderr)
    workers[name] = subprocess.Popen(pin + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here)
    for line in lines(name):
        having = cases.setdefault(line.split(",", 1)[1], [])
        if name not in having:
            having.append(name)

times = {}
for n in range(args.rounds):
    print(f"alternation {n + 1} of {args.rounds}", file=sys.stderr)
    for case, having in cases.items():
        for name in having if n % 2 == 0 else reversed(having):
            workers[name].stdin.write(case + "\n"); workers[name].stdin.flush()
            for line in lines(name):
                peer, workload, solver, columns, cpu, _wall = line.split(",")
                times.setdefault((peer, workload, solver, int(columns)), []).append(float(cpu))
for worker in workers.values():
    worker.stdin.close(); worker.wait()

median = {key: statistics.median(values) for key, values in times.items()}
print(f"\nMedian CPU milliseconds of one training iteration, per column, over {args.rounds} alternations on one core\n")
print("| peer | workload | solver | columns | ms | spread |\n|---|---|---|---|---|---|")
for (peer, workload, solver, columns), values in times.items():
    spread = (max(values) - min(values)) / median[peer, workload, solver, columns]
    print(f"| {peer} | {workload} | {solver} | {columns} | {median[peer, workload, solver, columns]:.4g} | {spread:.0%} |")

print("\nHow many times faster lawful is\n")
print("Ratios of the medians; beside them where the middle half of the alternations' own ratios is\n")
print("| against | lawful | workload | solver | columns | ratio | middle half |\n|---|---|---|---|---|---|---|")
for precision in ("single", "double"):
    for (peer, workload, solver, columns), ms in median.items():
        ours = median.get((f"lawful {precision}", workload, solver, columns))
        if not peer.startswith("lawful") and ours:
            pairs = zip(times[peer, workload, solver, columns], times[f"lawful {precision}", workload, solver, columns])
            low, _, high = statistics.quantiles([theirs / ours for theirs, ours in pairs], n=4)
            print(f"| {peer} | {precision} | {workload} | {solver} | {columns} | {ms / ours:.3g} | {low:.3g} – {high:.3g} |")

if args.history:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
    path = os.path.join(args.origin, args.history, f"{datetime.date.today()}-{commit}.csv")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["peer", "workload", "solver", "columns", "median_cpu_ms", "rounds", "processor"])
        for key, ms in median.items():
            writer.writerow([*key, f"{ms:.5f}", args.rounds, platform.processor() or platform.machine()])
    print(f"\nwrote {path}", file=sys.stderr)
