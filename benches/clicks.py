#!/usr/bin/env python3
"""Measures how long `dumptool serve` takes to answer 100 clicks of a person who looks around in a heap.

    benches/clicks.py [--program target/release/dumptool] [--clicks 100] DUMP

The clicks are the requests that the page makes, always the same ones for the same dump: lists of types and other groups, objects
of a type, by size and by text, an object (fields, path and subtree at once), and from there to its referrers and what it refers
to. They begin as soon as the server has printed its address. Times include the connection and the reading of the answer; the
last column is the memory of the server after these clicks.
"""

import argparse
import http.client
import json
import random
import re
import subprocess
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode


class Server:
    def __init__(self, program, dump):
        started = time.monotonic()
        command = [program, "serve", "--no-open", "-q", dump]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/(\w+)/", line)
        if not found:
            raise SystemExit(line)
        self.port, self.token = int(found[1]), found[2]
        self.seconds = time.monotonic() - started

    def ask(self, command, **options):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        options = {key.replace("_", "-"): value for key, value in options.items()}
        connection.request("GET", f"/{self.token}/api/{command}?{urlencode(options)}")
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if response.status != 200:
            raise SystemExit(f"{command} {options}: {response.status} {body.decode()}")
        return body

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return {key: int(fields[key].split()[0]) >> 10 for key in ("RssAnon", "RssFile")}


class Person:
    """Clicks on what the answers show."""

    def __init__(self, server):
        self.server, self.random = server, random.Random(17)
        self.threads = ThreadPoolExecutor(3)
        self.times = defaultdict(list)
        self.types, self.objects, self.texts = [], [], ["java", "main", "error"]

    def click(self, kind, *requests):
        before = time.monotonic()
        answers = list(self.threads.map(lambda it: self.server.ask(it[0], **it[1]), requests))
        self.times[kind].append(1000 * (time.monotonic() - before))
        return [json.loads(answer) for answer in answers]

    def top(self, by):
        [answer] = self.click("groups", ("top", {"limit": 500, "by": by}))
        if by == "type":
            self.types = [row["name"] for row in answer["rows"] if row["name"]]

    def find(self, kind, **options):
        [answer] = self.click(kind, ("find", {"limit": 200, **options}))
        self.objects = [row["id"] for row in answer["objects"]] or self.objects
        for row in answer["objects"]:
            value = row["value"] or {}
            if value.get("kind") == "text" and len(value["value"]) > 3:
                self.texts.append(value["value"][: self.random.randrange(3, 12)])

    def open(self, kind, object):
        tree = {"object": object, "depth": 6, "limit": 60, "min-share": 0.001}
        show, _, _ = self.click(kind, ("show", {"object": object}), ("path", {"object": object}), ("tree", tree))
        return show

    def look_around(self, round):
        pick = self.random.choice
        self.top(["type", "namespace", "root", "size-class"][round % 4])
        if not self.types:
            self.top("type")
        self.find("find by type", type=self.types[round % len(self.types)])
        show = self.open("object", self.objects[0])
        self.open("object", pick(self.objects))
        for key in ("referrers", "references"):
            near = [row["id"] for row in show[key]]
            self.open(key, pick(near or self.objects))
        self.find("find by text", value=pick(self.texts))
        self.open("object", pick(self.objects))
        self.find("find by size", min_size=pick([100, 1000, 10_000, 100_000]))
        self.open("object", pick(self.objects))


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dump")
    parser.add_argument("--program", default="target/release/dumptool")
    parser.add_argument("--clicks", type=int, default=100)
    arguments = parser.parse_args()
    server = Server(arguments.program, arguments.dump)
    try:
        person = Person(server)
        for round in range(arguments.clicks):
            if sum(map(len, person.times.values())) >= arguments.clicks:
                break
            person.look_around(round)
        every = [time for times in person.times.values() for time in times]
        print(f"{'click':<14} {'number':>6} {'p50 ms':>8} {'p95 ms':>8} {'most ms':>8}")
        for kind, times in [*person.times.items(), ("all", every)]:
            row = [percentile(times, share) for share in (0.5, 0.95, 1)]
            print(f"{kind:<14} {len(times):>6}" + "".join(f" {value:>8.1f}" for value in row))
        memory = server.memory()
        print(f"loaded after {server.seconds:.1f} s; {memory['RssAnon']} MiB, and {memory['RssFile']} MiB of the file")
    finally:
        server.process.kill()


if __name__ == "__main__":
    main()
