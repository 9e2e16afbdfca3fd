#!/usr/bin/env python3
"""Measures how long `dumptool explore` takes to its first screen, and to answer keys.

    benches/keys.py [--program target/release/dumptool] DUMP

The first screen has the counted types; the verdict follows. A key is answered when the last character of the screen that it leads
to has arrived. The keys are always the same: every view, moves, sorting, objects, paths and trees, back and forward. They begin
when the views have been computed ahead, a few seconds after the verdict.
"""

import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

KEYS = "2 j j s s \r j p b T b b 3 j \r \r \x7f \x7f 4 \r \r 5 \r b 6 \r b 7 \r b 1 \r o b b f 2 G k \r b".split(" ")


class Screen:
    def __init__(self, program, dump):
        self.started = time.monotonic()
        child, self.terminal = pty.fork()
        if child == 0:
            os.execvpe(program, [program, "explore", dump], {**os.environ, "TERM": "xterm-256color"})
        self.child, self.seen = child, b""
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))

    def read(self, patience):
        """Reads what arrives within so many seconds. Returns whether there was something."""
        if not select.select([self.terminal], [], [], patience)[0]:
            return False
        self.seen += os.read(self.terminal, 1 << 16)
        return True

    def wait(self, *texts):
        while not any(text in self.seen for text in texts):
            self.read(1)
        return time.monotonic() - self.started

    def settle(self):
        """Waits until the views have been computed ahead: the loop that waits for keys takes a few ticks in a second."""
        used = -100
        while self.cpu() - used > 10:
            used = self.cpu()
            before = time.monotonic()
            while time.monotonic() - before < 1:
                self.read(0.2)

    def cpu(self):
        """CPU time in ticks of 10 ms."""
        with open(f"/proc/{self.child}/stat") as status:
            return sum(map(int, status.read().rsplit(")", 1)[1].split()[11:13]))

    def press(self, key):
        """Milliseconds from a key to the last character that it led to."""
        before = last = time.monotonic()
        os.write(self.terminal, key.encode())
        while self.read(0.4):
            last = time.monotonic()
        return 1000 * (last - before)

    def memory(self):
        with open(f"/proc/{self.child}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        return {key: int(fields[key].split()[0]) >> 10 for key in ("RssAnon", "RssFile")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dump")
    parser.add_argument("--program", default="target/release/dumptool")
    arguments = parser.parse_args()
    before = time.monotonic()
    subprocess.run([arguments.program, "info", "-q", arguments.dump], stdout=subprocess.DEVNULL, check=True)
    info = time.monotonic() - before
    screen = Screen(arguments.program, arguments.dump)
    first, verdict = screen.wait(b"counted", b"could be"), screen.wait(b"could be", b"nothing stands")
    screen.settle()
    times = sorted((screen.press(key), key) for key in KEYS)
    memory = screen.memory()
    os.write(screen.terminal, b"q")
    print(f"info {info:.2f} s; first screen {first:.2f} s ({first / info:.2f} x), verdict {verdict:.2f} s")
    p50, p95, (most, key) = times[len(times) // 2][0], times[len(times) * 95 // 100][0], times[-1]
    print(f"{len(times)} keys: p50 {p50:.1f} ms, p95 {p95:.1f} ms, most {most:.1f} ms ({key!r})")
    print(f"memory {memory['RssAnon']} MiB, and {memory['RssFile']} MiB of the file")


if __name__ == "__main__":
    main()
