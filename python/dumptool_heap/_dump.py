"""Writing a dump: when, by which process, and what stands around the objects."""

import gc
import json
import os
import platform
import signal
import sys
import threading
import time
import warnings
import zlib
from json.encoder import encode_basestring_ascii as quoted
from _thread import _local
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from ._walk import Walker, get_module_dict, isinstance_exactly, static_types

Path = Union[str, "os.PathLike[str]"]

# Memory that is given back before a dump after a MemoryError.
RESERVE = 1 << 20


class DumpError(Exception):
    """A dump could not be written."""


class Dump(NamedTuple):
    """What was written."""

    path: str
    objects: int
    # Bytes of the file.
    size: int
    # For how long the program stood still, and how long writing took.
    paused: float
    seconds: float


class Output:
    """A file that appears under its name when it is complete. Only its owner may read it: it has the program's data."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.part = "%s.%d.part" % (path, os.getpid())
        self.file = os.fdopen(os.open(self.part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")
        # A gzip file: the level that is fastest halves what level 6 takes, for a fifth more bytes.
        self.packer = zlib.compressobj(1, zlib.DEFLATED, 31)

    def write(self, text: str) -> None:
        self.file.write(self.packer.compress(text.encode("ascii")))

    def finish(self) -> int:
        self.file.write(self.packer.flush())
        size = self.file.tell()
        self.file.close()
        os.replace(self.part, self.path)
        return size

    def discard(self) -> None:
        self.file.close()
        try:
            os.unlink(self.part)
        except OSError:
            pass


def dump(path: Path, contents: bool = True, fork: Optional[bool] = None, wait: bool = True) -> Optional[Dump]:
    """Writes the heap of this process to a file.

    contents: texts and numbers are written, the first 128 characters of each. Without them, only names that stand in the
        source are: those of modules, classes, functions, attributes and variables.
    fork: a child process writes, so that the program waits for the fork alone. The default is to fork where the system can.
    wait: return when the file is complete. Otherwise return None at once; the file appears under its name when it is complete.

    Raises DumpError if the file cannot be written.
    """
    path = os.path.abspath(os.fspath(path))
    started = time.monotonic()
    threads = current_threads(sys._getframe(1))
    if fork is None:
        fork = hasattr(os, "fork") and sys.platform != "darwin"
    if not fork:
        return write_here(path, contents, threads, started)
    # The child has this thread alone: the values of the others would be gone there.
    local = thread_locals() if len(threads) > 1 else []
    return write_in_child(path, contents, State(os.getpid(), threads, local), started, wait)


class Stack(NamedTuple):
    """A thread with its frames, the innermost first."""

    ident: int
    # None for a thread that Python did not start.
    thread: Optional[threading.Thread]
    frames: List[FrameType]


class State(NamedTuple):
    """What a child process would not have."""

    pid: int
    threads: List[Stack]
    # Thread-local variables by name, with the dictionary of each thread.
    local: List[Tuple[str, List[Any]]]


# Entries of a dictionary in which thread-local variables are looked for.
MOST_ENTRIES = 1000
PLAIN = (str, bytes, int, float, list, dict, tuple, set, frozenset, ModuleType, FunctionType, BuiltinFunctionType, type(None))


def thread_locals() -> List[Tuple[str, List[Any]]]:
    """The thread-local variables of modules and classes, and of the objects in variables of modules."""
    found: Dict[int, Tuple[str, List[Any]]] = {}

    def look(path: str, value: Any) -> None:
        if id(value) not in found and isinstance_exactly(value, _local):
            # Each thread has a dictionary within one of the variable.
            inner = [entry for entry in gc.get_referents(*gc.get_referents(value)) if type(entry) is dict]
            found[id(value)] = (path, inner)

    for module_name, module in list(dict.items(sys.modules)):
        if not isinstance_exactly(module, ModuleType):
            continue
        for name, value in list(dict.items(get_module_dict(module))):
            kind = type(value)
            if kind in PLAIN or type(name) is not str:
                continue
            path = "%s.%s" % (module_name, name)
            look(path, value)
            for held in gc.get_referents(value):
                look(path, held)
                if type(held) is dict and len(held) <= MOST_ENTRIES:
                    for inner in list(dict.values(held)):
                        look(path, inner)
    return list(found.values())


def current_threads(here: FrameType) -> List[Stack]:
    """All threads. The frames of this one begin with that which asked for the dump. A child process would have no others."""
    innermost = sys._current_frames()
    innermost[threading.get_ident()] = here
    active = threading._active  # type: ignore[attr-defined]
    return [Stack(ident, active.get(ident), stack(frame)) for ident, frame in innermost.items()]


def write_here(path: str, contents: bool, threads: List[Stack], started: float) -> Dump:
    collects, interval = gc.isenabled(), sys.getswitchinterval()
    # Neither the collector, whose finalizers are code of the program, nor another thread may run meanwhile.
    gc.disable()
    sys.setswitchinterval(3600)
    try:
        objects, size = write_file(path, contents, State(os.getpid(), threads, []), False)
    except OSError as error:
        raise DumpError("cannot write %s: %s" % (path, error)) from error
    finally:
        sys.setswitchinterval(interval)
        if collects:
            gc.enable()
    seconds = time.monotonic() - started
    return Dump(path, objects, size, seconds, seconds)


# Child processes that have not been reaped.
unreaped: List[int] = []


def write_in_child(path: str, contents: bool, state: State, started: float, wait: bool) -> Optional[Dump]:
    unreaped[:] = [child for child in unreaped if not is_over(child)]
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The child runs only what does not need the other threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            gc.disable()
            os.close(reading)
            report: List[Any] = []
            try:
                report = list(write_file(path, contents, state, True))
            except BaseException as error:  # The one place that can tell what went wrong.
                report = ["%s: %s" % (type(error).__name__, error)]
            # Whoever does not wait has closed the pipe.
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            os.write(writing, json.dumps(report).encode())
        finally:
            # Nothing of the program may run in the child: no handlers, no buffers that are flushed twice.
            os._exit(0)
    paused = time.monotonic() - started
    os.close(writing)
    unreaped.append(child)
    with os.fdopen(reading, "rb") as pipe:
        if not wait:
            return None
        report = json.loads(pipe.read() or b'["the process that wrote the dump ended early: was it out of memory?"]')
    if is_over(child, 0):
        unreaped.remove(child)
    if len(report) == 1:
        raise DumpError("cannot write %s: %s" % (path, report[0]))
    return Dump(path, report[0], report[1], paused, time.monotonic() - started)


def is_over(child: int, options: int = getattr(os, "WNOHANG", 0)) -> bool:
    """Whether a child process has ended, and is reaped."""
    try:
        return os.waitpid(child, options)[0] != 0
    except ChildProcessError:  # The program has reaped it.
        return True


def write_file(path: str, contents: bool, state: State, is_child: bool) -> "tuple[int, int]":
    """Writes the file. Returns the number of objects, and the bytes of the file."""
    pid, threads, local = state
    objects = gc.get_objects()
    output = Output(path)
    try:
        walker = Walker(output.write, contents, is_child)
        # The dump's own objects are not the program's.
        shown = {id(frame) for each in threads for frame in each.frames}
        own: List[Any] = [output, output.__dict__, walker, walker.__dict__, state, threads, local, objects, shown]
        for each in threads:
            own.extend((each, each.frames))
        for entry in local:
            own.extend((entry, entry[1]))
        frame: Optional[FrameType] = sys._getframe()
        while frame is not None and id(frame) not in shown:
            own.append(frame)
            frame = frame.f_back
        walker.hide(own)
        output.write(header(pid, contents))
        for each in threads:
            walker.find(each.frames)
        for entry in local:
            walker.find(entry[1])
        walker.walk(objects)
        for each in threads:
            output.write(thread(each))
        output.write(roots(walker))
        for name, values in local:
            output.write('{"root":"local","name":%s,"o":[%s]}\n' % (quoted("threading.local " + name), ",".join(str(id(value)) for value in values)))
        output.write('{"end":true,"objects":%d}\n' % walker.count)
        return walker.count, output.finish()
    except BaseException:
        output.discard()
        raise


def header(pid: int, contents: bool) -> str:
    is_cpython = sys.implementation.name == "cpython"
    fields = {
        "pyheap": 1,
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": sys.platform,
        "machine": platform.machine(),
        "pointer": 8 if sys.maxsize > 2**32 else 4,
        "pid": pid,
        "time": time.time(),
        "argv": list(getattr(sys, "argv", [])) if contents else [],
        "none": id(None),
        "gc": list(gc.get_count()) if is_cpython else [],
        "collections": sum(generation["collections"] for generation in gc.get_stats()) if is_cpython else 0,
        "contents": contents,
    }
    return json.dumps(fields, separators=(",", ":")) + "\n"


def stack(frame: Optional[FrameType]) -> List[FrameType]:
    """A frame and those that called it."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def thread(stack: Stack) -> str:
    name, daemon = None, False
    if stack.thread is not None:
        values = object.__getattribute__(stack.thread, "__dict__")
        name, daemon = values.get("_name"), bool(values.get("_daemonic"))
    rows = [
        '{"o":%d,"function":%s,"file":%s,"line":%d}'
        % (id(frame), quoted(frame.f_code.co_name), quoted(frame.f_code.co_filename), frame.f_lineno or 0)
        for frame in stack.frames
    ]
    return '{"thread":%d,"name":%s,"daemon":%s,"o":%d,"frames":[%s]}\n' % (
        stack.ident,
        quoted(name) if type(name) is str else "null",
        "true" if daemon else "false",
        0 if stack.thread is None else id(stack.thread),
        ",".join(rows),
    )


def roots(walker: Walker) -> str:
    """What the interpreter itself holds: modules, and types that C defines."""
    lines = []
    for name, module in list(dict.items(sys.modules)):
        if type(name) is str and id(module) in walker.seen and module is not None:
            kind = "library" if is_library(module) else "module"
            lines.append('{"root":"%s","name":%s,"o":[%d]}' % (kind, quoted(name), id(module)))
    kept = [id(cls) for cls in static_types(walker.plans)]
    lines.append('{"root":"builtin","name":"types of the interpreter","o":[%s]}' % ",".join(map(str, kept)))
    if gc.garbage:
        lines.append('{"root":"garbage","name":"gc.garbage","o":[%d]}' % id(gc.garbage))
    return "\n".join(lines) + "\n"


def is_library(module: Any) -> bool:
    """Whether a module belongs to Python itself: it is built in, or its file is in the standard library."""
    if type(module) is not ModuleType:
        return False
    members = get_module_dict(module)
    if members.get("__name__") == "__main__":
        return False
    file = members.get("__file__")
    if type(file) is not str:
        return True
    return file.startswith(os.path.dirname(os.__file__) + os.sep) and "site-packages" not in file


def numbered(folder: str) -> str:
    """A path in a folder that no other dump has."""
    os.makedirs(folder, exist_ok=True)
    moment = time.strftime("%Y%m%d-%H%M%S")
    base = os.path.join(folder, "%d-%s" % (os.getpid(), moment))
    path, number = base + ".pyheap", 1
    while os.path.exists(path):
        number += 1
        path = "%s-%d.pyheap" % (base, number)
    return path


def on_signal(number: int, folder: Path, contents: bool = True) -> None:
    """Writes a dump into a folder whenever the process gets a signal, such as signal.SIGUSR2. The program goes on at once.

    Has to be called by the main thread. What handled the signal before is replaced.
    """
    target = os.fspath(folder)

    def handle(_number: int, frame: Optional[FrameType]) -> None:
        try:
            dump(numbered(target), contents=contents, wait=False)
        except (DumpError, OSError) as error:
            sys.stderr.write("dumptool_heap: %s\n" % error)

    signal.signal(number, handle)


def on_memory_error(folder: Path, contents: bool = True) -> None:
    """Writes a dump into a folder when a MemoryError that nobody caught ends the program or a thread of it."""
    target = os.fspath(folder)
    reserve = [bytearray(RESERVE)]

    def write_for(kind: Any) -> None:
        if not (isinstance(kind, type) and issubclass(kind, MemoryError)):
            return
        reserve.clear()
        try:
            written = dump(numbered(target), contents=contents)
            if written is not None:
                sys.stderr.write("dumptool_heap: wrote %s\n" % written.path)
        except (DumpError, OSError, MemoryError) as error:
            sys.stderr.write("dumptool_heap: no dump: %s\n" % error)

    ends_program: Callable[..., Any] = sys.excepthook
    ends_thread: Callable[..., Any] = threading.excepthook

    def program(kind: Any, value: Any, traceback: Any) -> None:
        write_for(kind)
        ends_program(kind, value, traceback)

    def of_thread(args: Any) -> None:
        write_for(args.exc_type)
        ends_thread(args)

    sys.excepthook = program
    threading.excepthook = of_thread
