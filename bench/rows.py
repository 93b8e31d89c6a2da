"""rows.py - add_row(): a row of the results, as bench/row.h has it: appended to the file that $BENCH_ROWS names (not set: nowhere)."""
import json, math, os


def add_row(row, ours, *, goal="", one_thread=None, unit="s", certified=True, peer="", theirs=None, arrived=True, bar=0, on="ratio"):
    """on: what the bar is on, theirs / ours at least ("ratio", 0: none), or ours at most ("most") or at least ("least")."""
    if "BENCH_ROWS" not in os.environ:
        return
    figures = {name: float(value) for name, value in (("ours", ours), ("one_thread", one_thread), ("theirs", theirs), ("bar", bar))
               if value is not None and math.isfinite(value)}
    with open(os.environ["BENCH_ROWS"], "a", encoding="utf-8") as f:
        print(json.dumps({"row": row, "goal": goal, "unit": unit, "peer": peer, "on": on, "certified": bool(certified),
                          "arrived": bool(arrived), **figures}), file=f)
