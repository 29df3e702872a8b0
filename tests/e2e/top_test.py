#!/usr/bin/env python3
"""`berth top` in a terminal: what it shows, its keys, a change of size, and that it gives the terminal back.

    tests/e2e/top_test.py [--berth PROGRAM]
"""

import argparse
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import harness


class Terminal:
    """A pseudo terminal with a program in it, and the screen that its output makes."""

    def __init__(self, command, environment, columns, rows):
        self.ours, self.theirs = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.theirs)
        self.output, self.left = "", b""
        self.screen, self.row, self.column = {}, 1, 1
        self.process = subprocess.Popen(command, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs,
                                        env=environment, start_new_session=True,
                                        preexec_fn=harness.die_with_parent)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def read(self, seconds=0.1):
        readable, _, _ = select.select([self.ours], [], [], seconds)
        if readable:
            self.take(os.read(self.ours, 65536))

    def take(self, data):
        data = self.left + data
        # A character or an escape may come in two pieces.
        cut = len(data)
        for back in range(1, min(16, len(data)) + 1):
            if data[-back] == 0x1b and not re.match(rb"\x1b\[[0-9;?]*[A-Za-z]", data[-back:]):
                cut = len(data) - back
        while cut and (data[cut - 1] & 0xC0) == 0x80 or cut and data[cut - 1] >= 0xC0:
            try:
                data[:cut].decode()
                break
            except UnicodeDecodeError:
                cut -= 1
        text, self.left = data[:cut].decode(), data[cut:]
        self.output += text
        for escape, plain in re.findall(r"(\x1b\[[0-9;?]*[A-Za-z])|([^\x1b]+)", text):
            self.obey(escape) if escape else self.write(plain)

    def obey(self, escape):
        numbers, letter = escape[2:-1], escape[-1]
        if letter == "H":
            self.row, self.column = (int(each) for each in numbers.split(";"))
        elif letter == "J":
            self.screen = {}
        elif letter == "K":
            self.screen[self.row] = ""

    def write(self, text):
        line = self.screen.get(self.row, "")
        self.screen[self.row] = line[: self.column - 1].ljust(self.column - 1) + text + line[self.column - 1 + len(text):]
        self.column += len(text)

    def text(self):
        return "\n".join(self.screen.get(row, "") for row in range(1, self.rows + 1))

    def wait_for(self, pattern, what, seconds=30):
        until = time.monotonic() + seconds
        while not re.search(pattern, self.text()):
            if time.monotonic() > until or self.process.poll() is not None:
                raise harness.Broken(f"{what}: {pattern!r} is not on the screen:\n{self.text()}")
            self.read()

    def end(self):
        """Waits until the program has ended; its exit code."""
        until = time.monotonic() + 10
        while self.process.poll() is None:
            self.read()
            if time.monotonic() > until:
                self.process.kill()
                raise harness.Broken("it does not end")
        while select.select([self.ours], [], [], 0.1)[0]:
            self.take(os.read(self.ours, 65536))
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


def check(condition, what, text=""):
    if not condition:
        raise harness.Broken(f"{what}\n{text}")
    print(f"ok    {what}")


def try_screen(plane, environment):
    terminal = Terminal([plane.program, "top"], environment, 100, 30)
    try:
        terminal.wait_for(r"default/train +default +running .*of 300s|default/train +default +running .*of 5m", "a job runs")
        terminal.wait_for(r"default/second +default +waiting .*Capacity", "another waits, and why")
        terminal.wait_for(r"GPUs +8 of 8 .*100\.0 %", "GPUs in use")
        terminal.wait_for(r"default +1 +1 +8 ", "the queue")
        terminal.wait_for(r"1-2 of 2, all, by age", "the footer")
        check(True, "the screen shows who runs, who waits and why")
        terminal.press("w")
        terminal.wait_for(r"1-1 of 1, waiting", "w shows what waits")
        check("default/train" not in terminal.text(), "w shows what waits", terminal.text())
        terminal.press("rs")
        terminal.wait_for(r"1-1 of 1, running, by GPUs", "r and s")
        terminal.press("?")
        terminal.wait_for(r"scroll the list", "the keys")
        terminal.press("\x1b")
        terminal.press("p")
        terminal.wait_for(r"1-2 of 2, all", "back")
        check(True, "p, w, r, s and ? are obeyed")
        terminal.resize(40, 10)
        terminal.wait_for(r"(?m)^berth top *$\n(.*\n){8}1-2 of 2, all", "a small screen", 10)
        check(all(len(line) <= 40 for line in terminal.text().splitlines()), "it fits a screen of 40 x 10", terminal.text())
        subprocess.run([plane.program, "cancel", "job/second"], env=environment, check=True, capture_output=True)
        terminal.wait_for(r"1-1 of 1, all", "what is cancelled goes by itself")
        check(True, "what changes is seen without a key")
        inside = termios.tcgetattr(terminal.theirs)
        check(not inside[3] & termios.ICANON, "keys come as they are pressed")
        terminal.press("q")
        check(terminal.end() == 0, "q leaves")
        check(termios.tcgetattr(terminal.theirs) == terminal.before, "the terminal is as it was")
        check(terminal.output.endswith("\x1b[?25h\x1b[?1049l"), "cursor and screen are back", repr(terminal.output[-80:]))
    finally:
        terminal.close()


def try_leaving(plane, environment):
    for how in ("ctrl-C", "SIGTERM"):
        terminal = Terminal([plane.program, "top"], environment, 80, 24)
        try:
            terminal.wait_for("GPUs", "the screen")
            terminal.press("\x03") if how == "ctrl-C" else terminal.process.terminate()
            check(terminal.end() == 0, f"{how} leaves")
            restored = termios.tcgetattr(terminal.theirs) == terminal.before and "\x1b[?1049l" in terminal.output
            check(restored, f"the terminal is as it was after {how}")
        finally:
            terminal.close()


def try_hanging_up(plane, environment):
    terminal = Terminal([plane.program, "top"], environment, 80, 24)
    terminal.wait_for("GPUs", "the screen")
    os.close(terminal.theirs)
    os.close(terminal.ours)
    try:
        terminal.process.wait(10)
    except subprocess.TimeoutExpired as late:
        terminal.process.kill()
        raise harness.Broken("it outlives its terminal") from late
    check(True, "it ends with its terminal")


def try_without_screen(plane, environment):
    def top(words, **more):
        return subprocess.run([plane.program, "top", *words], env={**environment, **more}, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)

    reply = top([])
    check(reply.returncode == 0 and "default/train" in reply.stdout and "\x1b" not in reply.stdout,
          "without a terminal it prints one picture", reply.stdout + reply.stderr)
    reply = top(["--once"], COLUMNS="60", LINES="12", LC_ALL="C")
    lines = reply.stdout.splitlines()
    check(len(lines) <= 12 and all(len(line) <= 60 for line in lines) and reply.stdout.isascii(),
          "it has the size that was asked for, and ASCII where the locale is", reply.stdout)
    for variable, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        terminal = Terminal([plane.program, "top", "--once"], {**environment, variable: value}, 100, 30)
        try:
            check(terminal.end() == 0 and "\x1b" not in terminal.output, f"{variable}={value} is respected",
                  repr(terminal.output))
        finally:
            terminal.close()
    reply = top([], KUBECONFIG=str(plane.folder / "stranger"))
    check(reply.returncode == 4, "who may not look is told so", reply.stdout + reply.stderr)
    check("-n NAMESPACE" in reply.stderr, "and what is left", reply.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth")
    options = parser.parse_args()
    tokens = "secret,stranger,1,\n"
    with harness.ControlPlane(harness.find_program(options.berth), nodes="1xH100x8", tokens=tokens) as plane:
        text = plane.kubeconfig.read_text()
        stranger = re.sub(r"client-certificate-data: .*", "token: secret", text)
        (plane.folder / "stranger").write_text(re.sub(r"\n *client-key-data: .*", "", stranger))
        environment = {**harness.bare_environment(), "KUBECONFIG": str(plane.kubeconfig), "TERM": "xterm",
                       "LC_ALL": "C.UTF-8"}
        environment.pop("NO_COLOR", None)
        manifest = plane.folder / "jobs.yaml"
        job = """
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  template:
    metadata: {{annotations: {{berth.dev/run-for: 300s}}}}
    spec:
      restartPolicy: Never
      containers: [{{name: c, image: busybox, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]
"""
        for name in ("train", "second"):
            manifest.write_text(job.format(name=name))
            harness.wait_until(
                lambda: subprocess.run([plane.program, "submit", "-f", str(manifest)], env=environment,
                                       capture_output=True).returncode in (0, 5), 30, f"job {name} submitted")
            if name == "train":
                harness.wait_until(
                    lambda: "running" in subprocess.run([plane.program, "jobs"], env=environment, capture_output=True,
                                                        text=True).stdout, 30, "the first job runs")
        try_screen(plane, environment)
        try_leaving(plane, environment)
        try_hanging_up(plane, environment)
        try_without_screen(plane, environment)
    return 0


if __name__ == "__main__":
    harness.end_with(main)
