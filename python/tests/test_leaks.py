"""Programs that leak, each in a way that Python programs do. The verdict has to name the holder first."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from test_dump import DUMPTOOL, PACKAGE

START = """
import sys
sys.path.insert(0, %r)
import functools, gc, threading
import dumptool_heap

class Session:
    def __init__(self, number):
        self.user = "user %%d of many, of whom each has a text" %% number
        self.rows = [number, str(number)]

    @functools.lru_cache(maxsize=None)
    def load(self, key):
        return key

def sessions(start=0):
    return [Session(start + number) for number in range(3000)]

class Registered:
    registry = []

    def __init__(self, number):
        self.data = "data %%d " %% number * 5
        self.registry.append(self)

def done():
    dumptool_heap.dump(%r)
"""

# The program, and what the first line has to say.
LEAKS = {
    "a dict of a module": (
        "cache = {session.user: session for session in sessions()}",
        r"3 000 __main__.Session \(.*\) in the dict __main__.cache \(dict, 3 000 entries\)$",
    ),
    "a list of a module": (
        "handled = sessions()",
        r"3 000 __main__.Session \(.*\) in the list __main__.handled \(list, 3 000 entries\)$",
    ),
    "values of threading.local, beside those of asyncio": (
        "import asyncio\n"
        "context = threading.local()\n"
        "ready = threading.Barrier(5)\n"
        "def work(number):\n"
        "    context.batch = sessions(number * 3000)\n"
        "    ready.wait()\n"
        "    threading.Event().wait()\n"
        "for number in range(4): threading.Thread(target=work, args=(number,), daemon=True).start()\n"
        "ready.wait()",
        r"12 000 __main__.Session \(.*\) held by threading.local __main__.context$",
    ),
    "lru_cache of a method": (
        "for session in sessions(): session.load(1)\ndel session",
        r"3 000 __main__.Session \(.*\) in the lru_cache __main__.Session.load \(",
    ),
    "an error with its traceback": (
        "def handle(request):\n"
        "    rows = sessions()\n"
        "    int(request)\n"
        "try: handle('no number')\n"
        "except ValueError as error: last_error = error",
        r"3 000 __main__.Session \(.*\) held by __main__.last_error \(ValueError\), "
        r"in local rows of handle \(leak.py:\d+\) in the traceback of ValueError$",
    ),
    "cycles that were not collected": (
        "gc.disable()\nfor session in sessions(): session.itself = session\ndel session",
        r"3 000 __main__.Session \(.*\) in cycles that were not yet collected$",
    ),
    "tasks that never end": (
        "import asyncio\n"
        "async def serve(number, end):\n"
        "    rows = [Session(number) for _ in range(5)]\n"
        "    await end.wait()\n"
        "async def main():\n"
        "    end = asyncio.Event()\n"
        "    for number in range(500): asyncio.ensure_future(serve(number, end))\n"
        "    await asyncio.sleep(0)\n"
        "    done()\n"
        "    sys.exit()\n"
        "asyncio.run(main())",
        r"500 tasks _asyncio.Task \(.*\) held by .*, in local rows of serve \(leak.py:\d+\)$",
    ),
    "a queue that grows": (
        "import asyncio\n"
        "async def main():\n"
        "    global jobs\n"
        "    jobs = asyncio.Queue()\n"
        "    for session in sessions(): jobs.put_nowait(session)\n"
        "asyncio.run(main())",
        r"3 000 __main__.Session \(.*\) in the deque __main__.jobs._queue \(collections.deque, 3 000 entries\)$",
    ),
    "a default argument": (
        "def collect(item, seen=[]): seen.append(item)\nfor session in sessions(): collect(session)\ndel session",
        r"3 000 __main__.Session \(.*\) in the tuple __main__.collect.__defaults__$",
    ),
    "a registry of a class": (
        "for number in range(3000): Registered(number)",
        r"3 000 __main__.Registered \(.*\) in the list __main__.Registered.registry \(list, 3 000 entries\)$",
    ),
    "closures": (
        "def bind(rows): return lambda: rows\ncallbacks = [bind([str(number)] * 50) for number in range(1000)]",
        r"1 000 closures bind.<locals>.<lambda> \(leak.py:\d+\) \(.*\) "
        r"held by the list __main__.callbacks \(list, 1 000 entries\)$",
    ),
    "variables of a thread": (
        "ready, end = threading.Event(), threading.Event()\n"
        "def work():\n"
        "    rows = sessions()\n"
        "    ready.set()\n"
        "    end.wait()\n"
        "threading.Thread(target=work, name='worker', daemon=True).start()\n"
        "ready.wait()",
        r"3 000 __main__.Session \(.*\) in local rows of work \(leak.py:\d+\) "
        r"in thread worker \(list, 3 000 entries\)$",
    ),
    "values that belong to a thread": (
        "ready, end, own = threading.Event(), threading.Event(), threading.local()\n"
        "def work():\n"
        "    own.rows = sessions()\n"
        "    ready.set()\n"
        "    end.wait()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "ready.wait()",
        r"3 000 __main__.Session \(.*\) in threading.local __main__.own\['rows'\] \(list, 3 000 entries\)$",
    ),
    "generators": (
        "def read():\n"
        "    rows = [Session(number) for number in range(20)]\n"
        "    yield from rows\n"
        "readers = [read() for _ in range(200)]\n"
        "for reader in readers: next(reader)",
        r"__main__.Session \(.*\) in the list __main__.readers \(list, \d+ entries\), "
        r"in local rows of read \(leak.py:\d+\)$",
    ),
    "native code": (
        "import ctypes\nrows = sessions()\nctypes.pythonapi.Py_IncRef(ctypes.py_object(rows))\ndel rows",
        r"3 000 __main__.Session \(.*\) in one list held by C$",
    ),
}


@unittest.skipIf(DUMPTOOL is None, "the program dumptool is not on the PATH")
class Leaks(unittest.TestCase):
    def test_the_first_line_names_the_holder(self):
        for name, (program, message) in LEAKS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                dump, script = os.path.join(folder, "leak.pyheap"), os.path.join(folder, "leak.py")
                with open(script, "w") as file:
                    file.write(START % (PACKAGE, dump) + program + "\ndone()\n")
                subprocess.check_call([sys.executable, "-S", script], stderr=subprocess.DEVNULL)
                words = [DUMPTOOL, "top", "--suspects", "--format", "json", dump]
                found = json.loads(subprocess.check_output(words))["suspects"]
                self.assertRegex(found[0]["message"] if found else "nothing", message)


if __name__ == "__main__":
    unittest.main()
