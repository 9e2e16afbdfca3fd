"""Compares the dominator tree as `go tool pprof` shows it with our table of objects: flat is the shallow bytes of a type, cum
what its objects retain that none of their own type dominates.

Arguments: the go program, and folders with objects.jsonl and tree.pb.gz of one heap each.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict


def expected(path):
    children, flat, cum, names = defaultdict(list), Counter(), Counter(), set()
    for line in open(path):
        row = json.loads(line)
        if row["reachable"] or row["synthetic"]:
            name = row["type"] or "<unnamed>"
            children[row["dominator"]].append((row["object"], name, row["retained_bytes"]))
            flat[name] += row["shallow_bytes"] + row["external_bytes"]
            # Roots that the runtime shows as objects are groups of roots in stacks, and classes are called by what they stand for.
            if row["kind"] not in ("synthetic", "root") and name != "java.lang.Class":
                names.add(name)
    above, pending = Counter(), [(top, False) for top in children[None]]
    while pending:
        item, leave = pending.pop()
        number, name, retained = item
        if leave:
            above[name] -= 1
            continue
        if above[name] == 0:
            cum[name] += retained
        above[name] += 1
        pending.append((item, True))
        pending.extend((child, False) for child in children[number])
    return {name: (flat[name], cum[name]) for name in names}, sum(flat.values())


def shown(go, path):
    options = ["-top", "-sample_index=inuse_space", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-unit=B"]
    lines = subprocess.run([go, "tool", "pprof", *options, path], check=True, capture_output=True, text=True).stdout.splitlines()
    start = next((number for number, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"]), len(lines))
    rows = (line.split(None, 5) for line in lines[start + 1 :])
    return {fields[5]: (int(fields[0].rstrip("B")), int(fields[3].rstrip("B"))) for fields in rows}


def check(go, folder):
    (ours, total), theirs = expected(f"{folder}/objects.jsonl"), shown(go, f"{folder}/tree.pb.gz")
    # pprof leaves out what is zero, and no row can show a name with line breaks or several spaces.
    names = [name for name in ours if ours[name] != (0, 0) and name == " ".join(name.split())]
    wrong = [f"{name}: {ours[name]} and {theirs.get(name)}" for name in names if ours[name] != theirs.get(name)]
    if sum(flat for flat, _ in theirs.values()) != total:
        wrong.append(f"the total is {total} and {sum(flat for flat, _ in theirs.values())}")
    verdict = f"go tool pprof agrees on {len(names)} types" if not wrong else "FAIL " + "; ".join(wrong[:10])
    print(f"{folder}: {verdict}")
    return not wrong


sys.exit(0 if all([check(sys.argv[1], folder) for folder in sys.argv[2:]]) else 1)
