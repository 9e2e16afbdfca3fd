"""Dumps this process, and compares what dumptool reads with what Python itself says."""

import asyncio
import functools
import gc
import gzip
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import Counter, OrderedDict, deque

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)

import dumptool_heap  # noqa: E402

DUMPTOOL = os.environ.get("DUMPTOOL") or shutil.which("dumptool")


class Trap:
    """Every method of it that a careless dump would call ends the test."""

    limit = None

    def __init__(self):
        self.held = "in a trap"

    def fail(self, *arguments):
        raise AssertionError("the dump ran code of the program")

    __repr__ = __len__ = __iter__ = __eq__ = __hash__ = __sizeof__ = __getattr__ = __bool__ = __dir__ = fail
    total = property(fail)

    def __hash__(self):  # noqa: F811
        raise AssertionError("the dump ran code of the program")


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Session:
    """A class with attributes."""

    def __init__(self, number):
        self.user = "user %d" % number
        self.items = [str(number)] * 3


class Registry:
    def __init__(self):
        self.by_id = {}


REGISTRY = Registry()


def read(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


class Dumps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "app.pyheap")

    def tearDown(self):
        shutil.rmtree(self.folder)
        REGISTRY.by_id.clear()

    def dumptool(self, *words):
        done = subprocess.run([DUMPTOOL] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def objects(self, **options):
        dumptool_heap.dump(self.path, **options)
        lines = read(self.path)
        types = {line["type"]: line for line in lines if "type" in line}
        objects = {line["o"]: line for line in lines if "o" in line and "t" in line}
        return lines, types, objects

    def test_no_code_of_the_program_runs(self):
        kept = [Trap() for _ in range(5)]
        for fork in (True, False):
            _, types, objects = self.objects(fork=fork)
            names = Counter(types[line["t"]]["name"] for line in objects.values())
            self.assertEqual(names["Trap"], 5)
        self.assertEqual(len(kept), 5)

    def test_counts_and_sizes_are_those_of_the_process(self):
        gc.collect()
        everything = {id(value): value for value in gc.get_objects()}
        expected = Counter(type(value) for value in everything.values())
        _, types, objects = self.objects()
        found = Counter(types[line["t"]]["name"] for line in objects.values())
        for cls in (Session, type(self)):
            self.assertEqual(found[cls.__qualname__], expected[cls], cls)
        checked = 0
        for address, value in everything.items():
            line = objects.get(address)
            if line is not None and type(value) in (list, tuple, set, Session, deque, OrderedDict) and value is not everything:
                checked += 1
                if len(line.get("i", ())) == len(value) if type(value) in (list, tuple) else True:
                    self.assertEqual(line["s"], sys.getsizeof(value), type(value))
        self.assertGreater(checked, 500)

    def test_no_reference_leads_to_nothing(self):
        lines, _, objects = self.objects()
        for line in objects.values():
            for key in ("r", "i", "k"):
                for address in line.get(key, ()):
                    self.assertIn(address, objects)
        self.assertEqual(lines[-1], {"end": True, "objects": len(objects)})

    def test_counted_references_are_all_known(self):
        sessions = [Session(number) for number in range(100)]
        _, types, objects = self.objects()
        referrers = Counter()
        for line in objects.values():
            for key in ("r", "i", "k"):
                referrers.update(line.get(key, ()))
        for session in sessions:
            self.assertEqual(objects[id(session)]["c"], referrers[id(session)])

    def test_attributes_and_slots_have_names(self):
        session, slotted = Session(1), Slotted("x")
        lines, _, objects = self.objects()
        names = {line["names"]: line["of"] for line in lines if "names" in line}
        line = objects[id(session)]
        held = dict(zip(names[line["n"]], line["r"]))
        if "__dict__" in held:
            entries = objects[held["__dict__"]]["k"]
            held = {objects[key]["v"]: value for key, value in zip(entries[::2], entries[1::2])}
        self.assertEqual(held, {"user": id(session.user), "items": id(session.items)})
        line = objects[id(slotted)]
        self.assertEqual(dict(zip(names[line["n"]], line["r"])), {"a": id(slotted.a)})

    def test_without_contents_only_names_of_the_source_remain(self):
        REGISTRY.by_id["secret-key"] = "secret-value"
        dumptool_heap.dump(self.path, contents=False)
        with gzip.open(self.path, "rt") as file:
            text = file.read()
        self.assertNotIn("secret-", text)
        self.assertIn('"by_id"', text)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "needs NumPy")
    def test_arrays_of_numpy_have_elements_and_bases(self):
        import numpy

        sessions = [Session(number) for number in range(10)]
        kept = numpy.array(sessions, dtype=object).reshape(2, 5)
        view = kept[1:]
        numbers = numpy.arange(1000)[10:]
        del sessions
        _, types, objects = self.objects()
        # `reshape` made a view of an array that nothing else holds.
        base = objects[id(kept.base)]
        self.assertEqual([types[objects[item]["t"]]["name"] for item in base["i"]], ["Session"] * 10)
        for array in (kept, view, numbers):
            line = objects[id(array)]
            self.assertEqual(line["r"], [id(array.base)])
            self.assertNotIn("i", line)
        self.assertGreater(objects[id(numbers.base)]["s"], 8000)

    def test_threads_have_frames_and_local_variables(self):
        ready, done = threading.Event(), threading.Event()

        def work():
            local_rows = [bytearray(100)]
            ready.set()
            done.wait()
            return local_rows

        thread = threading.Thread(target=work, name="the worker", daemon=True)
        thread.start()
        ready.wait()
        lines, _, objects = self.objects()
        done.set()
        thread.join()
        threads = {line["name"]: line for line in lines if "thread" in line}
        frame = next(frame for frame in threads["the worker"]["frames"] if frame["function"] == "work")
        names = {line["names"]: line["of"] for line in lines if "names" in line}
        self.assertIn("local_rows", names[objects[frame["o"]]["n"]])

    def test_variables_of_suspended_calls_have_names(self):
        def read(rows):
            own_rows = [bytearray(10)]
            yield own_rows

        reader = read([1])
        next(reader)
        lines, _, objects = self.objects()
        names = {line["names"]: line["of"] for line in lines if "names" in line}
        line = objects[id(reader)]
        if "gi_frame" in dir(reader) and sys.version_info < (3, 11):
            line = objects[id(reader.gi_frame)]
        self.assertIn("own_rows", names[line["n"]])

    def test_a_file_is_whole_and_private_or_not_there(self):
        dumptool_heap.dump(self.path)
        self.assertEqual(os.listdir(self.folder), ["app.pyheap"])
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)
        for fork in (True, False):
            with self.assertRaises(dumptool_heap.DumpError):
                dumptool_heap.dump(os.path.join(self.folder, "missing", "app.pyheap"), fork=fork)

    @unittest.skipUnless(hasattr(sys, "remote_exec"), "code of another process since Python 3.14")
    def test_another_process_is_dumped(self):
        words = [sys.executable, "-m", "dumptool_heap", "-o", self.path]
        environment = dict(os.environ, PYTHONPATH=PACKAGE, TMPDIR=self.folder)
        loop = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)"
        with subprocess.Popen([sys.executable, "-c", loop], stdout=subprocess.PIPE) as program:
            try:
                program.stdout.readline()
                subprocess.check_output(words + [str(program.pid)], env=environment, stderr=subprocess.STDOUT)
                end = time.monotonic() + 60
                while not os.path.exists(self.path):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
            finally:
                program.kill()
        header = read(self.path)[0]
        self.assertEqual(header["pid"], program.pid)
        # Nothing else stays behind.
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.path)])
        done = subprocess.run(words + [str(program.pid)], env=environment, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot run code in process %d" % program.pid, done.stderr)

    def test_a_signal_writes_a_dump_and_the_program_goes_on(self):
        dumptool_heap.on_signal(signal.SIGUSR2, self.folder)
        os.kill(os.getpid(), signal.SIGUSR2)
        end = time.monotonic() + 60
        while not any(name.endswith(".pyheap") for name in os.listdir(self.folder)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_children_that_nobody_waited_for_are_reaped(self):
        dumptool_heap.dump(self.path, wait=False)
        end = time.monotonic() + 60
        while True:
            dumptool_heap.dump(self.path)
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            self.assertLess(time.monotonic(), end)

    def test_a_memory_error_writes_a_dump(self):
        script = (
            "import sys; sys.path.insert(0, %r); import dumptool_heap; dumptool_heap.on_memory_error(%r)\n"
            "def load(): rows = [1] * 1000; raise MemoryError\nload()\n"
        )
        subprocess.run([sys.executable, "-c", script % (PACKAGE, self.folder)], stderr=subprocess.PIPE)
        self.assertEqual(len(os.listdir(self.folder)), 1)

    @unittest.skipIf(DUMPTOOL is None, "the program dumptool is not on the PATH")
    def test_planted_leaks_are_named_first(self):
        for number in range(3000):
            REGISTRY.by_id["k%d" % number] = Session(number)
        retained = self.first_suspect()
        self.assertEqual((retained["count"], retained["type"]), (3000, "test_dump.Session" if __name__ != "__main__" else "__main__.Session"))
        self.assertIn("by_id", retained["holder"]["label"])
        REGISTRY.by_id.clear()
        self.assertLess(self.live(), self.before - retained["bytes"] * 0.9)

    def first_suspect(self):
        self.before = self.live()
        return json.loads(self.dumptool("top", "--suspects", "--format", "json", self.path))["suspects"][0]

    def live(self):
        gc.collect()
        dumptool_heap.dump(self.path)
        self.dumptool("check", "--quiet", self.path)
        return json.loads(self.dumptool("top", "--format", "json", "-n", "1", self.path))["total"]["shallow_bytes"]

    @unittest.skipIf(DUMPTOOL is None, "the program dumptool is not on the PATH")
    def test_cycles_that_were_not_collected_are_unreachable(self):
        gc.disable()
        try:
            for number in range(500):
                session = Session(number)
                session.itself = session
            del session
            dumptool_heap.dump(self.path)
        finally:
            gc.enable()
        found = json.loads(self.dumptool("top", "--objects", "unreachable", "--format", "json", self.path))
        counts = {row["name"].rsplit(".", 1)[-1]: row["count"] for row in found["rows"]}
        self.assertEqual(counts.get("Session"), 500)


if __name__ == "__main__":
    unittest.main()
