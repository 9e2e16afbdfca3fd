"""Dumps a program from outside.

    python -m dumptool_heap [-o FILE] PID                 a running process (Python 3.14 and later)
    python -m dumptool_heap [-o FOLDER] SCRIPT [ARG...]   runs a script, and dumps its heap when it gets SIGUSR2, when a
    python -m dumptool_heap [-o FOLDER] -m MODULE [ARG...]    MemoryError ends it, and when it ends
"""

import argparse
import atexit
import os
import runpy
import signal
import sys
import tempfile
from typing import List, Optional

from ._dump import dump, numbered, on_memory_error, on_signal


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dumptool_heap", description="Writes heaps of Python programs to files for dumptool.")
    parser.add_argument("-o", "--output", help="the file of a process's dump, or the folder for those of a script")
    parser.add_argument("--no-contents", action="store_true", help="leave out texts and numbers")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the process id, or a script and its arguments")
    options = parser.parse_args(arguments)
    contents = not options.no_contents
    if options.module:
        return run(options.module, True, options.output or ".", contents)
    if not options.program:
        parser.error("expected a process id or a script")
    if options.program[0].isdigit():
        return attach(int(options.program[0]), options.output, contents)
    return run(options.program, False, options.output or ".", contents)


# What another process runs. The file is gone after it was read.
ATTACHED = """
import os, sys
try:
    os.unlink(%r)
except OSError:
    pass
sys.path.append(%r)
import dumptool_heap
dumptool_heap.dump(%r, contents=%r, wait=False)
"""


def attach(pid: int, output: Optional[str], contents: bool) -> int:
    """Makes another process dump its heap: PEP 768."""
    execute = getattr(sys, "remote_exec", None)
    if execute is None:
        sys.stderr.write(
            "dumptool_heap: Python %d.%d cannot run code in another process (3.14 and later can).\n"
            "  hint: let the program itself call dumptool_heap.on_signal(signal.SIGUSR2, 'dumps'), and then run `kill -USR2 %d`\n"
            % (sys.version_info[0], sys.version_info[1], pid)
        )
        return 1
    path = os.path.abspath(output or "%d.pyheap" % pid)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(ATTACHED % (file.name, package, path, contents))
    # The process may belong to another user, if this one is root.
    os.chmod(file.name, 0o644)
    try:
        execute(pid, file.name)
    except (OSError, RuntimeError) as error:
        os.unlink(file.name)
        sys.stderr.write(
            "dumptool_heap: cannot run code in process %d: %s\n"
            "  hint: it must run Python %d.%d, and be one that you may trace: a process of your own, or any if you are root\n"
            % (pid, error, sys.version_info[0], sys.version_info[1])
        )
        return 1
    sys.stderr.write("process %d writes %s as soon as it runs Python code\n" % (pid, path))
    return 0


def run(words: List[str], is_module: bool, folder: str, contents: bool) -> int:
    """Runs a program in this process."""
    if hasattr(signal, "SIGUSR2"):
        on_signal(signal.SIGUSR2, folder, contents)
    on_memory_error(folder, contents)

    def at_end() -> None:
        written = dump(numbered(folder), contents=contents)
        if written is not None:
            sys.stderr.write("dumptool_heap: wrote %s\n" % written.path)

    sys.argv = words
    try:
        if is_module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
            # The variables of the script must live until the dump: a module of its own would be cleared.
            main_module = sys.modules["__main__"].__dict__
            with open(words[0], "rb") as file:
                code = compile(file.read(), words[0], "exec")
            main_module.update(__file__=words[0], __name__="__main__")
            atexit.register(at_end)
            exec(code, main_module)
            return 0
    finally:
        if is_module:
            at_end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
