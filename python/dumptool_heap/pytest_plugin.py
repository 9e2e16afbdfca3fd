"""For pytest: limits on the heap after all tests, and tests that may leave no objects behind.

    pytest --dumptool-max 'total.retained=200MiB'

    def test_request(no_new_objects):
        with no_new_objects("shop"):       # objects of the package shop
            client.get("/orders")
"""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional

import pytest

from ._dump import dump
from ._plan import type_name


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("dumptool")
    group.addoption(
        "--dumptool-max",
        action="append",
        default=[],
        metavar="RULE",
        help="fail if the heap after all tests exceeds a rule of `dumptool check --max`, such as 'total.retained=200MiB'",
    )


def pytest_configure(config: Any) -> None:
    if config.getoption("--dumptool-max") and find_program() is None:
        raise pytest.UsageError("--dumptool-max needs the program dumptool on the PATH")


def find_program() -> Optional[str]:
    """The program on the PATH, or else the one that was installed with this Python."""
    return shutil.which("dumptool") or shutil.which("dumptool", path=os.path.dirname(sys.executable))


def pytest_sessionfinish(session: Any) -> None:
    rules: List[str] = session.config.getoption("--dumptool-max")
    program = find_program()
    if not rules or session.exitstatus != 0 or program is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tests.pyheap")
        gc.collect()
        dump(path)
        words = [program, "check", path]
        for rule in rules:
            words += ["--max", rule]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        session.exitstatus = 1
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line("")
            reporter.write_line(done.stdout.rstrip())


def count_of(package: str) -> Dict[str, int]:
    """Objects of a package's classes by the name of their class."""
    gc.collect()
    counts: Dict[str, int] = Counter()
    for value in gc.get_objects():
        module, name = type_name(type(value))
        if module == package or module.startswith(package + "."):
            counts["%s.%s" % (module, name)] += 1
    return counts


@pytest.fixture
def no_new_objects() -> Callable[[str], Any]:
    """A context manager that fails the test if more objects of a package live after it than before, and dumps the heap then."""

    @contextmanager
    def watch(package: str) -> Iterator[None]:
        before = count_of(package)
        yield
        after = count_of(package)
        more = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
        if more:
            rows = ", ".join("%d %s" % (count, name) for name, count in sorted(more.items()))
            path = os.path.join(tempfile.mkdtemp(prefix="dumptool-"), "test.pyheap")
            dump(path)
            command = "dumptool path %s --type %s" % (path, max(more, key=lambda name: more[name]))
            pytest.fail("objects stay alive: %s\n  see `%s`" % (rows, command), pytrace=False)

    return watch
