"""Compares `dumptool top` with `go tool pprof -top`: filters, several profiles as one, and all sample types.

Arguments: the go program, dumptool, and profiles.
"""

import json
import re
import subprocess
import sys
from collections import Counter

# Each filter as options of pprof and of dumptool.
FILTERS = [
    ([], []),
    (["-focus=main\\."], ["--focus", "/main\\./"]),
    (["-focus=malloc|shop.go"], ["--focus", "/malloc|shop.go/"]),
    (["-ignore=runtime\\."], ["--ignore", "/runtime\\./"]),
    (["-focus=main\\.", "-ignore=mallocgc|Sort"], ["--focus", "/main\\./", "--ignore", "/mallocgc|Sort/"]),
    (["-hide=^runtime\\."], ["--hide", "/^runtime\\./"]),
    (["-show=main\\.|sync"], ["--show", "/main\\.|sync/"]),
    (["-show_from=main\\."], ["--show-from", "/main\\./"]),
    (["-focus=main", "-hide=main\\.main", "-show_from=main"], ["--focus", "/main/", "--hide", "/main\\.main/", "--show-from", "/main/"]),
    (["-tagfocus=bytes=1024b:"], ["--where", "bytes=1024:"]),
    (["-tagfocus=bytes=:4096b"], ["--where", "bytes=:4096"]),
    (["-tagfocus=bytes=64b:2048b"], ["--where", "bytes=64:2048"]),
]


def pprof(go, paths, options):
    fixed = ["-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"]
    command = [go, "tool", "pprof", *fixed, *options, *paths]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    start = next((number for number, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"]), len(lines))
    rows = {}
    for line in lines[start + 1 :]:
        fields = line.split(None, 5)
        name = re.sub(r" \((partial-)?inline\)$", "", fields[5]).replace("<unknown>", "<unnamed>")
        rows[name] = (number(fields[0]), number(fields[3]))
    return rows


def number(text):
    return int(re.match(r"-?\d+", text).group())


def dumptool(program, paths, options):
    command = [program, "top", "--format", "json", "-n", "0", "-q", *options, *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and "has no label" in done.stderr:
        return None
    return json.loads(done.stdout) if done.returncode == 0 else sys.exit(f"{command}: {done.stderr}")


def rows_of(document):
    own, total = Counter(), Counter()
    for row in document["rows"]:
        own[row["name"]] += row["self"]
        total[row["name"]] += row["total"]
    return {name: (own[name], total[name]) for name in own if (own[name], total[name]) != (0, 0)}


UNITS = {"nanoseconds": "ns", "microseconds": "us", "bytes": "B"}


def metrics(program, path):
    info = json.loads(subprocess.run([program, "info", "--format", "json", path], capture_output=True, text=True).stdout)
    return str([(metric["name"], metric["unit"]) for metric in (info[0] if isinstance(info, list) else info)["profile"]["metrics"]])


def compare(go, program, paths, theirs, ours):
    info = json.loads(subprocess.run([program, "info", "--format", "json", paths[0]], capture_output=True, text=True).stdout)
    info = info[0] if isinstance(info, list) else info
    compared, wrong = 0, []
    for metric in info["profile"]["metrics"]:
        document = dumptool(program, paths, [*ours, "--metric", metric["name"]])
        if document is None:
            continue
        unit = UNITS.get(metric["unit"])
        options = [f"-sample_index={metric['name']}", *([f"-unit={unit}"] if unit else ["-unit=minimum"]), *theirs]
        expected = {name: row for name, row in pprof(go, paths, options).items() if row != (0, 0)}
        got = rows_of(document)
        different = [f"{name}: {got.get(name)} and {expected.get(name)}" for name in sorted(got.keys() | expected.keys()) if got.get(name) != expected.get(name)]
        if different:
            wrong.append(f"{metric['name']} {' '.join(ours)}: {len(different)} of {len(expected)} differ: {'; '.join(different[:4])}")
        compared += len(expected)
    return compared, wrong


def main(go, program, *paths):
    compared, wrong = 0, []
    # Profiles of one kind are also read as one.
    kinds = {}
    for path in paths:
        kinds.setdefault(metrics(program, path), []).append(path)
    groups = [[path] for path in paths] + [[*same, same[0]] for same in kinds.values()]
    for group in groups:
        for theirs, ours in FILTERS:
            count, differences = compare(go, program, group, theirs, ours)
            compared += count
            wrong += [f"{' '.join(group)}: {difference}" for difference in differences]
    print(f"go tool pprof agrees on {compared} functions of {len(paths)} profiles with filters" if not wrong else "\n".join(["FAIL", *wrong]))
    return not wrong


sys.exit(0 if main(*sys.argv[1:]) else 1)
