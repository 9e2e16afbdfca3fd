"""Compares what Spark has written and answered with DuckDB and with `dumptool top`.

    fleet.py DUMPTOOL WORK      WORK has dumps/, lake/ and spark.json
"""

import csv
import io
import json
import os
import re
import subprocess
import sys

import duckdb

dumptool, work = sys.argv[1:]
failures = 0


def expect(what, found, expected):
    global failures
    if found != expected:
        failures += 1
        print(f"FAIL {what}: {found}, expected {expected}", file=sys.stderr)


def statements():
    with open("contrib/fleet.sql") as file:
        text = "\n".join(line for line in file.read().splitlines() if not line.startswith("--") or line == "-- questions")
    views, questions = text.split("-- questions")
    split = lambda part: [statement for statement in part.split(";\n") if statement.strip()]
    return split(views), split(questions + "\n")


def rows(values):
    """Rows that two engines write in the same way."""
    number = lambda value: round(float(value), 3) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    return [[number(value) for value in row] for row in values]


lake = duckdb.connect()
lake.execute(f"set variable lake = '{work}/lake'")
views, questions = statements()
for view in views:
    lake.execute(view)
with open(os.path.join(work, "spark.json")) as file:
    spark = list(json.load(file).values())
expect("questions", len(spark), len(questions))
for answer, question in zip(spark, questions):
    mine = lake.execute(question)
    expect("columns", answer["columns"], [column[0] for column in mine.description])
    found = mine.fetchall()
    expect(question.strip()[:60], rows(answer["rows"]), rows(found))
releases = lake.execute("select version from types where service = 'shop' group by version order by max(release)").fetchall()
expect("releases", releases, [("1.9",), ("1.10",)])

# Every dump is in the lake once, with the sums that `top` shows.
paths = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(work, "dumps")) for name in names]
expect("dumps", lake.execute("select count(*) from dumps").fetchone()[0], len(paths))
cut = [path for path in paths if path.endswith("cut.mvmheap")]
expect("damaged dumps", lake.execute("select file from dumps where not complete").fetchall(), [(path,) for path in map(os.path.abspath, cut)])
expect("damage", lake.execute("select count(*) from dumps where not complete and damage is not null").fetchone()[0], 1)
for path in sorted(paths):
    service, version, host = re.search("service=(.*)/version=(.*)/host=([^/]*)/", path).groups()
    top = subprocess.run([dumptool, "top", path, "--format", "csv", "-n", "0", "--lenient", "-q"], stdout=subprocess.PIPE, text=True, check=True)
    shown = {}
    for row in csv.DictReader(io.StringIO(top.stdout)):
        sums = shown.setdefault(row["name"], [0, 0, 0])
        for place, column in enumerate(["count", "shallow_bytes", "retained_bytes"]):
            sums[place] += int(row[column] or 0)
    # Rows that only stand for roots are no objects.
    query = """select type, sum(live_count), sum(live_shallow_bytes), sum(retained_bytes) from types
        where service = ? and version = ? and host = ? and kind <> 'root' group by type having sum(live_count) > 0"""
    stored = {name: [int(count), int(shallow), int(retained)] for name, count, shallow, retained in lake.execute(query, [service, version, host]).fetchall()}
    differ = sorted(name for name in shown.keys() | stored.keys() if shown.get(name) != stored.get(name))
    expect(path, [(name, shown.get(name), stored.get(name)) for name in differ[:5]], [])
print(f"{len(paths)} dumps, {len(questions)} questions")
sys.exit(1 if failures else 0)
