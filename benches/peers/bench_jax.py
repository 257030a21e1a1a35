"""One training iteration (solve, self-adaptive loss, backward, Adam) for JAX peers, one core, 32-bit floats.
usage: taskset -c 0 python bench_jax.py [workload ...] [--kinds scan,diffrax,wide,adaptive] [--serve]"""
import argparse, os
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jax.numpy as jnp, numpy as np, optax
from problems import SPEC, init_params, trained_params, wide
from serve import Rows, tidy
import node_jax as nj

HERE = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser()
ap.add_argument("workloads", nargs="*", default=["wpg", "cr", "dho"])
ap.add_argument("--kinds", default="scan,diffrax,wide,adaptive")
ap.add_argument("--seconds", type=float, default=0.25)
ap.add_argument("--serve", action="store_true")
args = ap.parse_args()
rows = Rows(args.seconds)


def add(peer, name, solver, columns, loss, params, chunk=4):
    opt = optax.adam(1e-5)
    p = jax.tree.map(jnp.asarray, params)

    def one(c, _):
        q, o = c
        l, g = jax.value_and_grad(loss)(q)
        u, o = opt.update(g, o)
        return (optax.apply_updates(q, u), o), l
    step = jax.jit(lambda c: jax.lax.scan(one, c, None, length=chunk))
    state = [(p, opt.init(p))]

    def run():
        state[0], l = step(state[0])
        l.block_until_ready()
        return chunk
    rows.add(peer, name, solver, columns, run)


def data(name):
    ts = SPEC[name]["grids"]["train"]
    y = SPEC[name]["sol"](ts).astype(np.float32)
    return ts.astype(np.float32), jnp.asarray(y), jnp.asarray(y[0])


def scan_rows(name):
    ts, y, y0 = data(name)
    hs, f = jnp.asarray(np.diff(ts)), nj.mlp(name)
    solve = nj.solve_split(f)
    add("jax-scan-split", name, "rk4-grid", 1, lambda p: nj.self_adaptive(name, solve(p, y0, hs), y), init_params(name, 0), 8)
    for columns in (8, 32):
        # Several trajectories of one network: the solve is mapped over initial states.
        starts = y0[None] * (1 + 0.01 * jnp.arange(columns)[:, None] / columns)
        many = jax.vmap(solve, (None, 0, None))
        add("jax-scan-split", name, "rk4-grid", columns,
            lambda p: jax.vmap(lambda s: nj.self_adaptive(name, s, y))(many(p, starts, hs)).mean(), init_params(name, 0), 2)


def diffrax_loss(name, alg, ctl, max_steps):
    import diffrax as dfx
    ts, y, y0 = data(name)
    ts, f = jnp.asarray(ts), nj.mlp(name)

    def loss(p):
        sol = dfx.diffeqsolve(dfx.ODETerm(lambda t, u, q: f(q, u)), alg, ts[0], ts[-1],
                              None if isinstance(ctl, dfx.StepTo) else ts[1] - ts[0], y0, args=p,
                              saveat=dfx.SaveAt(ts=ts), stepsize_controller=ctl, max_steps=max_steps)
        return nj.self_adaptive(name, sol.ys, y)
    return loss


def diffrax_rows(name):
    import diffrax as dfx
    tab = dfx.ButcherTableau(c=np.array([1/3, 2/3, 1.0]), b_sol=np.array([1/8, 3/8, 3/8, 1/8]),
                             b_error=np.array([1/8, -3/8, 3/8, -1/8]),
                             a_lower=(np.array([1/3]), np.array([-1/3, 1.0]), np.array([1.0, -1.0, 1.0])))

    class Kutta38(dfx.AbstractERK):
        tableau = tab
        interpolation_cls = dfx.ThirdOrderHermitePolynomialInterpolation.from_k

        def order(self, terms):
            return 4
    ts = jnp.asarray(SPEC[name]["grids"]["train"].astype(np.float32))
    add("diffrax", name, "rk4-grid", 1, diffrax_loss(name, Kutta38(), dfx.StepTo(ts), 4096), init_params(name, 0))


def adaptive_rows():
    """Trained oscillator: at initial weights the dynamics are nearly flat and step counts are not comparable."""
    import diffrax as dfx
    for label, alg in (("dopri5", dfx.Dopri5()), ("tsit5", dfx.Tsit5())):
        for r, a in ((1e-4, 1e-6), (1e-7, 1e-9)):
            add("diffrax", "dho", f"{label} rtol {tidy(r)}", 1, diffrax_loss("dho", alg, dfx.PIDController(rtol=r, atol=a), 4096),
                trained_params("dho", f"{HERE}/weights"))


def wide_rows():
    f = nj.mlp("wide")
    hs, y0, y = wide(32)
    solve = nj.solve_plain(f)
    for columns in (1, 32):
        many = jax.vmap(solve, (None, 0, None), 1)
        target, starts = jnp.asarray(y[:, :columns]), jnp.asarray(y0[:columns])
        add("jax-scan", "wide", "rk4-grid", columns,
            lambda p: nj.psi(jnp.mean((many(p, starts, jnp.asarray(hs)) - target) ** 2)), init_params("wide", 0), 1)


kinds = args.kinds.split(",")
for name in args.workloads:
    if "scan" in kinds:
        scan_rows(name)
    if "diffrax" in kinds:
        diffrax_rows(name)
if "adaptive" in kinds:
    adaptive_rows()
if "wide" in kinds:
    wide_rows()
rows.serve(args.serve)
