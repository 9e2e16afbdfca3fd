"""Reads our tables of heaps with DuckDB and compares counts and sums with each other and with `info`.

Arguments: folders with objects.csv, objects.jsonl, ... of one heap each, and info.json.
"""

import json
import sys

import duckdb

TABLES = ("objects", "references", "roots", "types")


def load(folder):
    database = duckdb.connect()
    for table in TABLES:
        # Everything must be valid: no line is skipped.
        database.execute(f"create table csv_{table} as from read_csv('{folder}/{table}.csv', header = true, quote = '\"', escape = '\"', all_varchar = false)")
        if open(f"{folder}/{table}.jsonl").read(1):
            database.execute(f"create table json_{table} as from read_json('{folder}/{table}.jsonl', format = 'newline_delimited')")
        else:
            database.execute(f"create table json_{table} as from csv_{table} limit 0")
    return database


def check(folder):
    database = load(folder)
    one = lambda query: database.execute(query).fetchone()
    wrong = []

    def equal(what, left, right):
        if left != right:
            wrong.append(f"{what}: {left} and {right}")

    for table in TABLES:
        equal(f"rows of {table}", one(f"select count(*) from csv_{table}"), one(f"select count(*) from json_{table}"))
    sums = "count(*), coalesce(sum(shallow_bytes), 0), coalesce(sum(external_bytes), 0)"
    objects = one(f"select {sums} from csv_objects")
    equal("sums of objects", objects, one(f"select {sums} from json_objects"))
    equal("objects by type", objects, one("select sum(count), sum(shallow_bytes), sum(external_bytes) from csv_types"))
    live = one(f"select {sums} from csv_objects where reachable")
    by_type = one("select sum(live_count), sum(live_shallow_bytes), sum(live_external_bytes) from csv_types")
    equal("live objects by type", live, by_type)
    # What the tops of the dominator tree retain is everything that is alive.
    tops = one("select coalesce(sum(retained_bytes), 0) from csv_objects where dominator is null")
    equal("live bytes and what the tops retain", live[1] + live[2], tops[0])
    dangling = one("select count(*) from csv_references where src not in (select object from csv_objects) or dst not in (select object from csv_objects)")
    equal("references to nothing", dangling, (0,))
    equal("ids", one("select count(distinct id) from csv_objects"), one("select count(*) from csv_objects"))
    # Rows that only stand for roots are in the table, because references begin there, but are no objects.
    real = one("select count(*) from csv_objects where kind <> 'root'")
    equal("the report", json.load(open(f"{folder}/report.json"))["objects"], real[0])
    print(f"{folder}: " + ("DuckDB agrees" if not wrong else "FAIL " + "; ".join(wrong)))
    return not wrong


sys.exit(0 if all([check(folder) for folder in sys.argv[1:]]) else 1)
