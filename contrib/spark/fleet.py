"""Reads many dumps on an Apache Spark cluster: every executor runs `dumptool` on its share of the files and writes Parquet, which is
then queried.

    spark-submit contrib/spark/fleet.py DUMPS LAKE [--dumptool PROGRAM] [--memory 8GiB] [--only-write | --only-query]

DUMPS is a folder with key=value folders, such as `service=shop/version=1.4/host=a/app.hprof.zst`; LAKE is written as
`LAKE/types/service=shop/version=1.4/host=a/app-1f6c03d2.parquet` and `LAKE/dump/...`. All executors see both under the same path (NFS,
or a mounted bucket), and have dumptool. A dump that was read before is replaced by the same bytes. The questions are those of
contrib/fleet.sql. Give executors one core for each dump that fits into their memory at a time.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from urllib.parse import unquote

from pyspark.sql import SparkSession

QUESTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fleet.sql")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("dumps")
    parser.add_argument("lake")
    parser.add_argument("--dumptool", default="dumptool", help="the program, as executors find it")
    parser.add_argument("--memory", help="memory that one dump may take, such as 8GiB (default: 80 %% of the machine's)")
    parser.add_argument("--only-write", action="store_true", help="write the lake and ask nothing")
    parser.add_argument("--only-query", action="store_true", help="ask the lake as it is")
    parser.add_argument("--json", help="also write the answers to this file")
    return parser.parse_args()


def dumps_below(folder):
    """All files, the largest first, so that no executor begins with the last of them at the end."""
    found = []
    for path, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(path, name) for name in sorted(names) if not name.startswith(".")]
    return sorted(found, key=os.path.getsize, reverse=True)


def convert(paths, root, lake, dumptool, memory):
    """Runs on the executors. Gives path, status, seconds and what went wrong, of each dump."""
    for path in paths:
        # Spark and dumptool percent-encode values in the names of folders.
        keys = [unquote(key) for key in re.findall(r"([a-z_]+=[^/]+)/", os.path.relpath(path, root))]
        command = [dumptool, "convert", path, lake + "/", "--to", "parquet", "--table", "types,dump", "--lenient", "--quiet", "--threads", "1"]
        command += ["--partition", ",".join(keys)] + (["--max-memory", memory] if memory else [])
        start = time.time()
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        yield path, run.returncode, time.time() - start, run.stderr.strip()


def write_lake(spark, options):
    """Converts all dumps. What cannot be read is listed; the rest is in the lake."""
    paths = dumps_below(options.dumps)
    if not paths:
        sys.exit(f"no dumps below {options.dumps}")
    root, lake, dumptool, memory = os.path.abspath(options.dumps), os.path.abspath(options.lake), options.dumptool, options.memory
    start = time.time()
    # A partition for each dump: a free executor takes the next one.
    shares = spark.sparkContext.parallelize([os.path.abspath(path) for path in paths], len(paths))
    outcomes = shares.mapPartitions(lambda share: convert(share, root, lake, dumptool, memory)).collect()
    failed = [outcome for outcome in outcomes if outcome[1] != 0]
    for path, status, _, message in failed:
        print(f"not read: {path}: status {status}: {message}", file=sys.stderr)
    spent = sum(seconds for _, _, seconds, _ in outcomes)
    print(f"{len(paths) - len(failed)} of {len(paths)} dumps read in {time.time() - start:.1f} s, {spent:.1f} s of dumptool")
    return not failed


def views(spark, lake):
    """The views of contrib/fleet.sql. Partition keys stay text: as numbers, 1.10 would be 1.1."""
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    for table, view in [("types", "all_types"), ("dump", "dumps")]:
        spark.read.parquet(os.path.join(os.path.abspath(lake), table)).createOrReplaceTempView(view)
    spark.sql(r"""create or replace temporary view types as select *, dense_rank() over (
        partition by service order by transform(split(version, '[.]'), part -> try_cast(part as int)), version) as release from all_types""")


def questions():
    """The comment before each question of contrib/fleet.sql, and its SQL."""
    with open(QUESTIONS) as file:
        text = file.read().split("\n-- questions\n", 1)[1]
    for part in text.split(";\n"):
        lines = part.strip().splitlines()
        if lines:
            yield lines[0].lstrip("- "), "\n".join(line for line in lines if not line.startswith("--"))


def main():
    options = arguments()
    spark = SparkSession.builder.appName("dumptool fleet").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    whole = options.only_query or write_lake(spark, options)
    if options.only_write:
        spark.stop()
        sys.exit(0 if whole else 1)
    views(spark, options.lake)
    answers = {}
    start = time.time()
    for question, sql in questions():
        answer = spark.sql(sql)
        rows = answer.collect()
        answers[question] = {"columns": answer.columns, "rows": [list(row) for row in rows]}
        print(f"\n{question}")
        print("\t".join(answer.columns))
        for row in rows:
            print("\t".join("" if cell is None else str(cell) for cell in row))
    print(f"\n{len(answers)} questions in {time.time() - start:.1f} s")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(answers, file)
    spark.stop()
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
