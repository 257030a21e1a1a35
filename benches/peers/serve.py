"""Times rows of work, case by case, so that peers can be measured alternately.

Each row is a name and a function that does some iterations and says how many. Without `--serve` every row is printed once.
With it, the rows are listed and a line `ready` follows; then a line on stdin names a case (workload,solver,columns), its rows
are measured, and a line `end` closes them. CPU time is what counts: it is robust on a shared core.
CSV: peer,workload,solver,columns,median CPU ms per iteration and column,wall ms."""
import statistics, sys, time


class Rows:
    def __init__(self, seconds):
        self.seconds, self.rows = seconds, []

    def add(self, peer, workload, solver, columns, run):
        """`run()` does some iterations of all columns and returns their number; it is warmed up here."""
        try:
            run()
            self.rows.append((peer, f"{workload},{solver},{columns}", columns, run))
        except Exception as e:
            print(f"# {peer},{workload},{solver}: failed: {str(e).strip().splitlines()[0][:100]}", file=sys.stderr)

    def measure(self, peer, case, columns, run):
        cpu, wall, end = [], [], time.process_time() + self.seconds
        while not cpu or time.process_time() < end:
            w, c = time.perf_counter(), time.process_time()
            n = run() * columns
            cpu.append((time.process_time() - c) / n * 1e3)
            wall.append((time.perf_counter() - w) / n * 1e3)
        print(f"{peer},{case},{statistics.median(cpu):.5f},{statistics.median(wall):.5f}", flush=True)

    def serve(self, forever):
        if not forever:
            return [self.measure(*row) for row in self.rows]
        for peer, case, _columns, _run in self.rows:
            print(f"{peer},{case}")
        print("ready", flush=True)
        for asked in sys.stdin:
            [self.measure(*row) for row in self.rows if row[1] == asked.strip()]
            print("end", flush=True)


def tidy(tolerance):
    """`1e-4` and not `0.0001` or `1e-04`."""
    return f"{tolerance:.0e}".replace("e-0", "e-")
