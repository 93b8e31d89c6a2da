#!/usr/bin/env python3
"""own_operator.py - a linear map written in Python, solved by margrave through its C interface (standard library only).

usage: python3 own_operator.py [LIBMARGRAVE.SO]      (libmargrave.so.0 of the system when left out)
A sparse signal is seen as sums over neighbours; the signal of least |x|_1 with the same sums is found and is the true one."""
import ctypes as c
import sys

margrave = c.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libmargrave.so.0")
Map = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_double), c.POINTER(c.c_double))


class Operator(c.Structure):
    _fields_ = [("size", c.c_size_t), ("rows", c.c_int64), ("cols", c.c_int64), ("user", c.c_void_p), ("mul", Map), ("mul_t", Map)]


margrave.mgv_ctx_error.restype = c.c_char_p
ctx = c.c_void_p()
margrave.mgv_ctx_new(None, c.byref(ctx))


def must(status):
    if status:
        sys.exit(f"own_operator: {margrave.mgv_ctx_error(ctx).decode()}")


ROWS, COLS = 60, 90  # row i sees columns i, i + 7 and i + 30


def mul(_, x, y):
    for i in range(ROWS):
        y[i] = x[i] + 2 * x[i + 7] - x[i + 30]
    return 0


def mul_t(_, u, g):
    for j in range(COLS):
        g[j] = 0
    for i in range(ROWS):
        g[i] += u[i]
        g[i + 7] += 2 * u[i]
        g[i + 30] -= u[i]
    return 0


truth = [3.0 if j in (11, 40) else -2.0 if j == 71 else 0.0 for j in range(COLS)]
seen = (c.c_double * ROWS)()
mul(None, truth, seen)

operator = Operator(c.sizeof(Operator), ROWS, COLS, None, Map(mul), Map(mul_t))
must(margrave.mgv_operator_check(ctx, c.byref(operator)))  # each other's transposes?
settings, problem, solver = c.c_void_p(), c.c_void_p(), c.c_void_p()
must(margrave.mgv_settings_new(ctx, c.byref(settings)))
for name, value in ((b"penalty", b"l1"), (b"tol", b"1e-8")):
    must(margrave.mgv_settings_set(ctx, settings, name, value))
must(margrave.mgv_problem_from_operator(ctx, c.byref(operator), seen, None, settings, c.byref(problem)))
must(margrave.mgv_solver_new(ctx, problem, settings, c.byref(solver)))
must(margrave.mgv_solver_run(ctx, solver))
weights, count = c.POINTER(c.c_double)(), c.c_int64()
must(margrave.mgv_solver_weights(solver, c.byref(weights), c.byref(count)))
found = {j: round(weights[j], 5) for j in range(count.value) if abs(weights[j]) > 1e-5}
print(f"found {found}; the truth is {({j: x for j, x in enumerate(truth) if x})}")
