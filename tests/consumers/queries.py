"""Runs the queries of docs/queries.md on the tables of dumps, and compares these tables with what dumptool prints.

Arguments: the program, a folder to work in, and dumps. Those with the word `cut` in their name are damaged.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import duckdb
import polars
import pyarrow.parquet

program, work, *dumps = sys.argv[1:]
program, work = os.path.abspath(program), os.path.abspath(work)
dumps = [os.path.abspath(dump) for dump in dumps]
wrong = []


def equal(what, left, right):
    if left != right:
        wrong.append(f"{what}: {str(left)[:300]} and {str(right)[:300]}")


def is_cut(dump):
    """Whether the dump is damaged, by its name."""
    return "cut" in re.split(r"\W", os.path.basename(dump))


def run(*arguments):
    """The output of dumptool, which ends well, or with status 3 for a damaged dump."""
    result = subprocess.run([program, *arguments], capture_output=True, text=True)
    if result.returncode not in (0, 3):
        sys.exit(f"dumptool {' '.join(arguments)} ends with {result.returncode}: {result.stderr}")
    return result.stdout


def document(*arguments):
    return json.loads(run(*arguments, "--format", "json"))


def queries():
    """The queries by the heading above them."""
    sections = {}
    for section in re.split(r"^## ", open("docs/queries.md").read(), flags=re.M)[1:]:
        sections[section.splitlines()[0]] = re.findall(r"^```sql\n(.*?)^```$", section, flags=re.M | re.S)
    return sections


def ask(folder, query):
    """The rows of a query whose files are in a folder."""
    query = re.sub(r"'((?:old|new)/)?(\w+)\.parquet'", rf"'{folder}/\1\2.parquet'", query)
    query = query.replace("'lake/", f"'{folder}/lake/")
    return duckdb.connect().execute(query).fetchall()


def same_in_all_readers(path):
    """Rows, sums and nulls of every column, by three readers."""
    read = polars.read_parquet(path)
    arrow = pyarrow.parquet.read_table(path)
    con = duckdb.connect()
    for column in read.columns:
        equal(f"{path}: nulls of {column}", read[column].null_count(), arrow[column].null_count)
        is_number = read[column].dtype in (polars.Int64, polars.Int32, polars.Boolean)
        value = f'sum("{column}"::hugeint)' if is_number else f'count(distinct "{column}")'
        seen = con.execute(f"select count(*), count(*) - count(\"{column}\"), {value} from '{path}'").fetchone()
        if is_number:
            values = [int(number) for number in read[column].drop_nulls().to_list()]
            of_arrow = sum(int(number) for number in arrow[column].drop_null().to_pylist())
            third = sum(values) if values else None
            equal(f"{path}: sum of {column}", of_arrow if values else None, third)
        else:
            third = read[column].drop_nulls().n_unique()
        equal(f"{path}: {column}", seen, (len(read), read[column].null_count(), third))


def check_heap(dump, folder):
    name = os.path.basename(dump)
    top = document("top", dump, "-n", "0")
    rows = {(row["name"], row["namespace"] or ""): row for row in top["rows"]}
    con = duckdb.connect()
    types = con.execute(
        f"select type, namespace, sum(live_count), sum(live_shallow_bytes), sum(live_external_bytes), sum(retained_bytes) "
        f"from '{folder}/types.parquet' where kind <> 'root' group by all having sum(live_count) > 0"
    ).fetchall()
    live = con.execute(f"select live_count, live_shallow_bytes, live_external_bytes, complete from '{folder}/dump.parquet'").fetchone()
    if live[0] > 0:
        keys = ("count", "shallow_bytes", "external_bytes", "retained_bytes")
        of_top = sorted((*key, *(rows[key][number] for number in keys)) for key in rows)
        equal(f"{name}: top", of_top, sorted(types))
        equal(f"{name}: the totals of top", tuple(top["total"][key] for key in keys[:3]), live[:3])
        objects = con.execute(
            f"select type, namespace, count(*), sum(shallow_bytes) from '{folder}/objects.parquet' "
            f"where reachable and kind <> 'root' group by all"
        ).fetchall()
        equal(f"{name}: objects by type", sorted(objects), sorted(row[:4] for row in types))
    equal(f"{name}: complete", live[3], not is_cut(name))
    furthest = con.execute(
        f"select id, root_distance from '{folder}/objects.parquet' where reachable and kind not in ('root', 'synthetic') "
        f"order by root_distance desc, object limit 2"
    ).fetchall()
    for object_id, distance in furthest:
        steps = document("path", dump, object_id, "-k", "1")["paths"][0]["steps"]
        equal(f"{name}: steps to {object_id}", len(steps) - 1, distance)


def check_profile(dump, folder):
    name = os.path.basename(dump)
    con = duckdb.connect()
    for (metric,) in con.execute(f"select distinct metric from '{folder}/functions.parquet'").fetchall():
        rows = document("top", dump, "-n", "0", "--metric", metric)["rows"]
        keys = ("name", "namespace", "self", "total", "samples_self", "samples_total")
        of_top = sorted(tuple(row[key] or "" if key == "namespace" else row[key] for key in keys) for row in rows)
        seen = con.execute(
            f"select function, file, self, total, samples_self, samples_total from '{folder}/functions.parquet' where metric = ?", [metric]
        ).fetchall()
        equal(f"{name}: top by {metric}", of_top, sorted(seen))
    # Every frame of a sample is there once, so that functions add up from samples and stacks.
    own = con.execute(
        f"select sum(samples) from '{folder}/samples.parquet' s join '{folder}/stacks.parquet' using (stack)"
    ).fetchone()
    # A file may have a metric of this name, which is not the number of rows.
    by_function = con.execute(
        f"select coalesce(sum(self) filter (metric = 'samples'), sum(samples_self) filter (metric = (select min(metric) from '{folder}/functions.parquet'))) "
        f"from '{folder}/functions.parquet' f"
    ).fetchone()
    equal(f"{name}: samples with frames", own, by_function)


def check_diff(old, new, folder):
    rows = document("diff", old, new, "-n", "0")["rows"]
    query = sections["Two dumps"][0].replace("limit 20", "")
    grown = {(row[0], row[1]): row[2:] for row in ask(folder, query) if row[2] or row[3]}
    of_diff = {
        (row["name"], row["namespace"] or ""): (row["delta"]["count"], row["delta"]["retained_bytes"]) for row in rows
    }
    equal("diff", {key: delta for key, delta in of_diff.items() if any(delta)}, grown)


def write(dump):
    folder = f"{work}/{os.path.basename(dump)}.tables"
    run("convert", dump, folder + "/", "--to", "parquet", "--quiet")
    kind = "A heap" if os.path.exists(f"{folder}/objects.parquet") else "A profile"
    if kind == "A heap":
        run("convert", dump, folder + "/strings.parquet", "--table", "strings", "--quiet")
    return folder, kind


sections = queries()
answered = {}
with ThreadPoolExecutor(4) as pool:
    written = list(pool.map(write, dumps))

for dump, (folder, kind) in zip(dumps, written):
    for table in sorted(os.listdir(folder)):
        same_in_all_readers(f"{folder}/{table}")
    (check_heap if kind == "A heap" else check_profile)(dump, folder)
    for query in sections[kind]:
        answered[query] = answered.get(query, 0) + len(ask(folder, query))

# Not of Go: `diff` matches types without names by their layout, under names that only it shows.
old, new = [dump for dump in dumps if dump.endswith("java17.hprof.zst") and "fixtures" in dump][:2]
os.makedirs(f"{work}/two", exist_ok=True)
for name, dump in (("old", old), ("new", new)):
    run("convert", dump, f"{work}/two/{name}/", "--to", "parquet", "--quiet")
check_diff(old, new, f"{work}/two")

heaps = [dump for dump, (_, kind) in zip(dumps, written) if kind == "A heap"]
for _ in range(2):
    for version, dump in enumerate(heaps):
        partition = f"service=shop,version=1.{version}"
        run("convert", dump, f"{work}/many/lake/", "--to", "parquet", "--table", "types,dump", "--partition", partition, "--quiet")
    files = [path for _, _, files in os.walk(f"{work}/many/lake") for path in files]
    equal("files of the lake, which are replaced when they are written again", len(files), 2 * len(heaps))
cut = [row[0] for row in ask(f"{work}/many", sections["Many dumps"][1])]
equal("dumps that are cut", sorted(cut), sorted(dump for dump in heaps if is_cut(dump)))

for section, folder in (("Two dumps", f"{work}/two"), ("Many dumps", f"{work}/many")):
    for query in sections[section]:
        answered[query] = len(ask(folder, query))
wrong += [f"no dump has an answer to: {query}" for query, rows in answered.items() if rows == 0]
equal("queries", len(answered), 20)
for what in wrong:
    print("FAIL", what)
print(f"{len(answered)} queries of docs/queries.md on {len(dumps)} dumps: " + ("all agree" if not wrong else "FAIL"))
sys.exit(1 if wrong else 0)
