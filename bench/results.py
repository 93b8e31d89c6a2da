"""results.py - what the suites found, as JSON and as a table. Standard library only.

usage: results.py SUITE ROWS PEERS STATUS [ARGUMENT...]    build/results/SUITE.json from the rows (bench/row.h) and the peers
                                                    (bench/peers.sh) of a run, and its table
       results.py --table SUITE...                  one table of those files
Ratios are the peer's figure over ours; '>': the peer was stopped before it was there, it takes longer than that."""
import datetime, glob, json, os, subprocess, sys

FOLDER = "build/results"


# ---- the machine -----------------------------------------------------------------------------------------------------


def first_line(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.readline().strip()
    except OSError:
        return ""


def said_by(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            names = [line.split(":", 1)[1].strip() for line in f if line.startswith(("model name", "Model"))]
    except OSError:
        names = []
    return names[0] if names else os.uname().machine


def caches():
    """Of the first processor: {"L1d": "32K", ...}"""
    found = {}
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        kind, level, size = (first_line(f"{folder}/{name}") for name in ("type", "level", "size"))
        if kind != "Instruction":
            found["L1d" if level == "1" else f"L{level}"] = size
    return found


def machine():
    try:
        in_use = json.loads(said_by("build-bench/margrave", "list", "--json"))
    except ValueError:
        in_use = {"version": "?", "in_use": {}}
    commit = said_by("git", "describe", "--always", "--dirty")
    return {"processor": processor(), "processors": os.cpu_count(), "caches": caches(),
            "simd": in_use["in_use"].get("simd", "?"), "cut_for": in_use["in_use"].get("caches", "?"), "threads": in_use["in_use"].get("threads"),
            "margrave": in_use["version"] + (f" ({commit})" if commit else "")}


# ---- rows ------------------------------------------------------------------------------------------------------------


def judge(r):
    """Adds the ratio and what became of the bar: met, MISSED, NOT CERTIFIED, open (nothing to judge by), or none."""
    ours, theirs, bar = r.get("ours"), r.get("theirs"), r.get("bar", 0)
    if ours and theirs:
        r["ratio"] = theirs / ours
    if not r["certified"] or ours is None:
        r["met"] = "NOT CERTIFIED"
    elif r["on"] != "ratio":
        r["met"] = "met" if (ours <= bar if r["on"] == "most" else ours >= bar) else "MISSED"
    elif bar <= 0:
        r["met"] = ""
    elif r.get("ratio", 0) >= bar:
        r["met"] = "met"
    else:
        r["met"] = "MISSED" if "ratio" in r and r["arrived"] else "open"
    return r


def figure(value, unit):
    if value is None:
        return "-"
    if unit != "s":
        return f"{value:.4g} {unit}".rstrip()
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.4g} ms"


def cells(suite, r):
    late = "" if r["arrived"] else ">"
    bar = "" if r["on"] == "ratio" and r["bar"] <= 0 else {"ratio": "", "most": "<= ", "least": ">= "}[r["on"]] + f"{r['bar']:g}"
    return [suite, r["row"] + (f", {r['goal']}" if r["goal"] else ""), figure(r.get("one_thread"), r["unit"]),
            figure(r.get("ours"), r["unit"]), r["peer"] or "-", late + figure(r.get("theirs"), r["unit"]) if "theirs" in r else "-",
            f"{late}{r['ratio']:.2f}x" if "ratio" in r else "-", bar + ("x" if bar and r["on"] == "ratio" else ""), r["met"]]


def print_table(results):
    table = [cells(result["suite"], r) for result in results for r in result["rows"]]
    if not table:
        print("no rows")
        return
    head = ["suite", "row", "1 thread", "ours", "peer", "theirs", "ratio", "bar", "met"]
    wide = [max(len(line[k]) for line in [head, *table]) for k in range(len(head))]
    for line in [head, *table]:
        print("  ".join(f"{cell:{'<' if k in (0, 1, 4, 8) else '>'}{wide[k]}}" for k, cell in enumerate(line)).rstrip())
    count = {word: sum(line[8] == word for line in table) for word in ("met", "MISSED", "NOT CERTIFIED", "open")}
    print(f"\n{len(table)} rows: {count['met']} met their bar, {count['MISSED']} missed it, {count['open']} open (no peer, or it was cut "
          f"off), {count['NOT CERTIFIED']} without certificate; ratio: theirs over ours, '>': the peer had not arrived")


def print_machine(m):
    sizes = ", ".join(f"{name} {size}" for name, size in m["caches"].items())
    print(f"{m['processor']}, {m['processors']} processors, {sizes or 'caches unknown'}; margrave {m['margrave']}, {m['simd']}, "
          f"caches taken as {m.get('cut_for', '?')}, {m['threads']} threads")


# ---- files -----------------------------------------------------------------------------------------------------------


def load(suite):
    try:
        with open(f"{FOLDER}/{suite}.json", encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def write(suite, rows, peers, status, arguments):
    with open(peers, encoding="utf-8") as f:
        versions = dict(line.split(None, 1) for line in f.read().splitlines())
    with open(rows, encoding="utf-8") as f:
        found = [judge(json.loads(line)) for line in f if line.strip()]
    result = {"suite": suite, "arguments": arguments, "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
              "status": int(status), "machine": machine(),
              "peers": {name: None if version == "-" else version for name, version in versions.items()}, "rows": found}
    with open(f"{FOLDER}/{suite}.json", "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(f"\n{suite}: {FOLDER}/{suite}.json")
    print_machine(result["machine"])
    print("peers: " + (", ".join(f"{name} {version or 'MISSING'}" for name, version in result["peers"].items()) or "none"))
    print_table([result])
    if result["status"]:
        print(f"the run ended with status {result['status']}: these are the rows until then")


def main(arguments):
    if arguments[:1] == ["--table"]:
        results = [r for r in map(load, arguments[1:]) if r]
        if results:
            print_machine(results[-1]["machine"])
        peers = {name: version for r in results for name, version in r["peers"].items()}
        print("peers: " + (", ".join(f"{name} {version or 'MISSING'}" for name, version in sorted(peers.items())) or "none") + "\n")
        print_table(results)
    else:
        write(*arguments[:4], arguments[4:])


main(sys.argv[1:])
