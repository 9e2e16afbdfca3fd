"""Writes the heap of a running Python program to a file that the program dumptool reads.

    import dumptool_heap

    dumptool_heap.dump("app.pyheap")                          # now
    dumptool_heap.on_signal(signal.SIGUSR2, "dumps")          # whenever `kill -USR2 PID` asks for it
    dumptool_heap.on_memory_error("dumps")                    # when a MemoryError ends a thread

No code of the program runs while a dump is written: no `__repr__`, no `__len__`, no property. Where the
system can fork, a child process writes the dump, and the program waits for the fork alone.
`docs/formats/pyheap.md` of dumptool describes the file.
"""

from ._dump import Dump, DumpError, dump, on_memory_error, on_signal

__all__ = ["Dump", "DumpError", "dump", "on_memory_error", "on_signal"]
