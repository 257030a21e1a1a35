"""One training iteration (solve, self-adaptive loss, backward, Adam) for PyTorch peers, one thread, 32-bit floats.
usage: taskset -c 0 python bench_torch.py [workload ...] [--kinds grid,adaptive] [--serve]"""
import argparse, os, warnings
import torch
from torch import nn
from torchdiffeq import odeint
from problems import SPEC, constraints, init_params, trained_params
from serve import Rows, tidy

HERE = os.path.dirname(os.path.abspath(__file__))
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
ap = argparse.ArgumentParser()
ap.add_argument("workloads", nargs="*", default=["wpg", "cr", "dho"])
ap.add_argument("--kinds", default="grid,adaptive")
ap.add_argument("--seconds", type=float, default=0.25)
ap.add_argument("--serve", action="store_true")
args = ap.parse_args()
rows = Rows(args.seconds)
ACT = {"tanh": nn.Tanh, "elu": nn.ELU}


class Field(nn.Module):
    def __init__(self, name, params):
        super().__init__()
        s, layers = SPEC[name], []
        for i, (a, b) in enumerate(zip(s["sizes"][:-1], s["sizes"][1:])):
            layers += [nn.Linear(a, b)] + ([ACT[s["acts"][i]]()] if i < len(s["acts"]) else [])
        self.net = nn.Sequential(*layers)
        with torch.no_grad():
            for m, (w, b) in zip([m for m in layers if isinstance(m, nn.Linear)], params):
                m.weight.copy_(torch.tensor(w.T)); m.bias.copy_(torch.tensor(b))

    def forward(self, t, y):
        return self.net(y)


def psi(x):
    return x / (1 + x)


def self_adaptive(name, pred, y, tol=1e-4):
    F, pen, tot = psi(((pred - y) ** 2).mean()), 0.0, 0.0
    eq, ineq = constraints(name, pred)
    for group in ([c.abs() for c in eq], [c.relu() for c in ineq]):
        for v in group:
            P, mu = psi(v).mean(), (v != 0).float().mean()
            pen, tot = pen + mu * P / len(group), tot + P
    return F if tot <= tol else F + pen


def add(peer, name, solver, net, solve, y):
    opt = torch.optim.Adam(net.parameters(), lr=1e-5)

    def run():
        opt.zero_grad()
        self_adaptive(name, solve(), y).backward()
        opt.step()
        return 1
    rows.add(peer, name, solver, 1, run)


def data(name):
    grid = SPEC[name]["grids"]["train"]
    t = torch.tensor(grid, dtype=torch.float32)
    y = torch.tensor(SPEC[name]["sol"](grid), dtype=torch.float32)
    return t, y, y[0].clone()


def grid_row(name):
    t, y, y0 = data(name)
    net = Field(name, init_params(name, 0))
    add("torchdiffeq", name, "rk4-grid", net, lambda: odeint(net, y0, t, method="rk4"), y)


def adaptive_rows():
    """Trained oscillator: at initial weights the dynamics are nearly flat and step counts are not comparable."""
    import torchode as to
    t, y, y0 = data("dho")
    for r, a in ((1e-4, 1e-6), (1e-7, 1e-9)):
        net = Field("dho", trained_params("dho", f"{HERE}/weights"))
        add("torchdiffeq", "dho", f"dopri5 rtol {tidy(r)}", net,
            lambda net=net, r=r, a=a: odeint(net, y0, t, method="dopri5", rtol=r, atol=a), y)
        net = Field("dho", trained_params("dho", f"{HERE}/weights"))
        term = to.ODETerm(lambda s, u, net=net: net.net(u))
        alg = to.AutoDiffAdjoint(to.Dopri5(term=term), to.IntegralController(atol=a, rtol=r, term=term))
        add("torchode", "dho", f"dopri5 rtol {tidy(r)}", net,
            lambda alg=alg: alg.solve(to.InitialValueProblem(y0=y0[None], t_eval=t[None])).ys[0], y)


kinds = args.kinds.split(",")
for name in args.workloads:
    if "grid" in kinds:
        grid_row(name)
if "adaptive" in kinds:
    adaptive_rows()
rows.serve(args.serve)
