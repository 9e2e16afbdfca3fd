"""Runs pytest with the plugin, where pytest is installed."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from test_dump import DUMPTOOL, PACKAGE

TESTS = """
import pytest

class Order:
    pass

orders = []

def test_that_leaks(no_new_objects):
    with no_new_objects("test_shop"):
        orders.append(Order())

def test_that_is_clean(no_new_objects):
    with no_new_objects("test_shop"):
        Order()
"""


@unittest.skipIf(importlib.util.find_spec("pytest") is None, "pytest is not installed")
@unittest.skipIf(DUMPTOOL is None, "the program dumptool is not on the PATH")
class Plugin(unittest.TestCase):
    def pytest(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_shop.py"), "w") as file:
                file.write(TESTS)
            path = os.path.dirname(os.path.abspath(DUMPTOOL)) + os.pathsep + os.environ["PATH"]
            done = subprocess.run(
                # A plugin that is installed as well is the same one.
                [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "dumptool_heap.pytest_plugin"] + list(words),
                cwd=folder,
                env=dict(os.environ, PYTHONPATH=PACKAGE, PATH=path, TMPDIR=folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                universal_newlines=True,
            )
        return done.returncode, done.stdout

    def test_objects_that_stay_fail_a_test(self):
        status, output = self.pytest()
        self.assertEqual(status, 1, output)
        self.assertIn("1 failed, 1 passed", output)
        self.assertIn("objects stay alive: 1 test_shop.Order", output)
        self.assertRegex(output, "dumptool path .*test.pyheap --type test_shop.Order")

    def test_a_heap_beyond_the_limit_fails_the_run(self):
        clean = ("-k", "clean", "--dumptool-max")
        status, output = self.pytest(*clean, "total.retained=2GiB")
        self.assertEqual(status, 0, output)
        status, output = self.pytest(*clean, "total.retained=1MiB")
        self.assertEqual(status, 1, output)
        self.assertIn("FAIL  total.retained", output)


if __name__ == "__main__":
    unittest.main()
