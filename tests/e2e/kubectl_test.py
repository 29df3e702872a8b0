#!/usr/bin/env python3
"""Runs the real kubectl against a control plane: every command of kubectl/*.txt, and whether it prints what it should.

    tests/e2e/kubectl_test.py [--berth PROGRAM] [--kubectl 1.29|all] [--only WORD] [--commands FILE] [FILE...]

The files are lists of entries. A line at the left margin begins something, indented lines belong to it:

    alone                        (before all entries) no other file runs at the same time
    file pod.yaml                a file in the folder where the commands run
        apiVersion: v1
    == a sentence that says what is true                     an entry begins
    covers: NAME, NAME           names of the recorded list of commands (--commands) that it stands for
    needs: >=1.31                only with such a kubectl; also <1.31
    until: 20                    tried again until it is as expected, for at most that many seconds
    limit: 30                    the command's time in seconds (20)
    $ kubectl get pods           the command, of bash; more lines that begin with $ are added to it
    exit: 1                      its exit code (0); `any`
    | NAME * STATUS              the output has such a line, after the one before (others may stand between): *
    | /^p1 +1\\/1/                stands for anything, spaces for any spaces; /.../ is a regular expression
    ! *error*                    no line is like this
    exactly                      there are no other lines

Each file has its own namespace, $NS, in which its commands run, and a folder with its files. Objects that are in no
namespace are called after it ($NS-something). Users alice, bob and carol sign in by `--kubeconfig alice` and so on:
nobody has given them any right; they are members of the groups of TOKENS below.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import harness

HERE = Path(__file__).resolve().parent
NODES = "4xH100x8,1xL40Sx4,1xcpu"
TOKENS = 'alice-token,alice,u-alice,"team-a,dev"\nbob-token,bob,u-bob,team-b\ncarol-token,carol,u-carol\n'
USERS = ("alice", "bob", "carol")
AT_ONCE = 2
LIMIT_S = 20
SHOWN_LINES = 40


@dataclass
class Entry:
    file: str
    line: int
    name: str
    covers: list = field(default_factory=list)
    needs: str = ""
    until_s: float = 0
    limit_s: float = LIMIT_S
    command: list = field(default_factory=list)
    exit: object = 0
    wanted: list = field(default_factory=list)
    unwanted: list = field(default_factory=list)
    exactly: bool = False


@dataclass
class CommandFile:
    name: str
    alone: bool = False
    files: dict = field(default_factory=dict)
    entries: list = field(default_factory=list)


# ---- the format ------------------------------------------------------------------------------------------------------


class Reader:
    def __init__(self, path):
        self.path, self.result, self.entry, self.text = path, CommandFile(path.stem), None, None

    def wrong(self, number, why):
        return harness.Broken(f"{self.path.name}:{number}: {why}")

    def read(self):
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if self.text is not None and (line.startswith("    ") or not line):
                self.text.append(line[4:])
                continue
            self.text = None
            if line and not line.startswith("#"):
                self.take(number, line.rstrip())
        for entry in self.result.entries:
            if not entry.command:
                raise self.wrong(entry.line, f"'{entry.name}' has no command")
        return self.result

    def take(self, number, line):
        if line.startswith("file "):
            self.text = self.result.files.setdefault(line[5:], [])
        elif line.startswith("== "):
            self.entry = Entry(self.path.name, number, line[3:])
            self.result.entries.append(self.entry)
        elif line == "alone" and self.entry is None:
            self.result.alone = True
        elif self.entry is None:
            raise self.wrong(number, "before the first entry (== ...)")
        else:
            self.take_of_entry(number, line)

    def take_of_entry(self, number, line):
        entry = self.entry
        word, _, rest = line.partition(" ")
        if word == "$":
            entry.command.append(rest)
        elif word == "|":
            entry.wanted.append(rest.strip())
        elif word == "!":
            entry.unwanted.append(rest.strip())
        elif word == "exactly":
            entry.exactly = True
        elif word == "covers:":
            entry.covers += [name.strip() for name in rest.split(",")]
        elif word == "needs:":
            entry.needs = rest
        elif word == "until:":
            entry.until_s = float(rest)
        elif word == "limit:":
            entry.limit_s = float(rest)
        elif word == "exit:":
            entry.exit = rest if rest == "any" else int(rest)
        else:
            raise self.wrong(number, f"'{word}' means nothing here")


def fits_version(needs, version):
    if not needs:
        return True
    found = re.fullmatch(r"(>=|<)(\d+)\.(\d+)", needs)
    if not found:
        raise harness.Broken(f"needs: {needs}: write >=1.31 or <1.31")
    than = (int(found[2]), int(found[3]))
    return version >= than if found[1] == ">=" else version < than


def is_like(line, pattern):
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        return re.search(pattern[1:-1], line) is not None
    # Brackets stand for themselves in what kubectl prints.
    pattern = re.sub(r"\s+", " ", pattern).replace("[", "[[]").replace("?", "[?]")
    return fnmatch.fnmatchcase(re.sub(r"\s+", " ", line.strip()), pattern)


def complaint_about(entry, code, lines, name_space):
    """What is not as expected, in a sentence; empty if all is."""
    if entry.exit != "any" and code != entry.exit:
        return f"exit code {code} instead of {entry.exit}"
    at = 0
    for pattern in (text.replace("$NS", name_space) for text in entry.wanted):
        found = next((i for i in range(at, len(lines)) if is_like(lines[i], pattern)), None)
        if found is None:
            return f"no line like: {pattern}" + (" (after those before)" if at else "")
        if entry.exactly and found != at:
            return f"one line too many: {lines[at]}"
        at = found + 1
    if entry.exactly and at < len(lines):
        return f"one line too many: {lines[at]}"
    for pattern in (text.replace("$NS", name_space) for text in entry.unwanted):
        for line in lines:
            if is_like(line, pattern):
                return f"a line like: {pattern}"
    return ""


# ---- running ---------------------------------------------------------------------------------------------------------


class FileRun:
    """One command file in its own namespace and folder."""

    def __init__(self, plane, commands, version):
        self.plane, self.commands, self.version = plane, commands, version
        self.name_space = "e2e-" + commands.name.replace("_", "-")
        self.folder = plane.folder / "work" / commands.name
        self.passed, self.failures, self.skipped = 0, [], []

    def run(self):
        self.prepare()
        for entry in self.commands.entries:
            if not fits_version(entry.needs, self.version):
                self.skipped.append(f"{entry.file}: {entry.name}: needs kubectl {entry.needs}")
                continue
            complaint, lines = self.try_entry(entry)
            if complaint:
                self.failures.append((entry, complaint, lines))
            else:
                self.passed += 1
        return self

    def prepare(self):
        self.folder.mkdir(parents=True)
        for name, lines in self.commands.files.items():
            (self.folder / name).write_text("\n".join(lines).replace("$NS", self.name_space) + "\n")
        self.plane.must(["create", "namespace", self.name_space])
        self.config = self.plane.user_kubeconfig("admin", self.folder / "admin", namespace=self.name_space)
        for user in USERS:
            self.plane.user_kubeconfig(user, self.folder / user, namespace=self.name_space, token=f"{user}-token")

    def try_entry(self, entry):
        until = time.monotonic() + entry.until_s
        while True:
            code, lines = self.execute(entry)
            complaint = complaint_about(entry, code, lines, self.name_space)
            if not complaint or time.monotonic() >= until:
                return complaint, lines
            time.sleep(0.2)

    def execute(self, entry):
        environment = self.plane.environment(self.config)
        environment["NS"] = self.name_space
        process = subprocess.Popen(["bash", "-c", "\n".join(entry.command)], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=entry.limit_s)
            return process.returncode, output.splitlines()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            output, _ = process.communicate()
            return "(none: stopped after its time)", output.splitlines()


def run_files(plane, files, version):
    runs = [FileRun(plane, each, version) for each in files]
    done = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        done += pool.map(FileRun.run, [run for run in runs if not run.commands.alone])
    return done + [run.run() for run in runs if run.commands.alone]


def shortened(lines):
    if len(lines) <= SHOWN_LINES:
        return lines
    half = SHOWN_LINES // 2
    return [*lines[:half], f"... {len(lines) - 2 * half} lines ...", *lines[-half:]]


def report(runs):
    for run in runs:
        for entry, complaint, lines in run.failures:
            print(f"FAILED {entry.file}:{entry.line}: {entry.name}\n    {complaint}")
            for line in entry.command:
                print(f"    $ {line}")
            for line in shortened(lines):
                print(f"    > {line}")
        for line in run.skipped:
            print(f"skipped {line}")


def names_not_covered(files, commands):
    """Of the recorded list: names that no entry stands for."""
    covered = {name for each in files for entry in each.entries for name in entry.covers}
    recorded = [line.split("|")[0].strip() for line in commands.read_text().splitlines() if line.count("|") >= 1]
    recorded = [name for name in recorded if not name.startswith("#") and name != "default"]
    unknown = sorted(covered - set(recorded))
    return [name for name in recorded if name not in covered], unknown


def check_coverage(files, commands):
    if not commands.exists():
        print("skipped: the recorded list of commands is not here, so nothing says what must be covered")
        return True
    missing, unknown = names_not_covered(files, commands)
    for name in missing:
        print(f"FAILED: no entry covers '{name}' of {commands.name}")
    for name in unknown:
        print(f"FAILED: an entry covers '{name}', which is not in {commands.name}")
    return not missing and not unknown


def versions_to_run(wanted):
    """[(version, path)]: the newest kubectl, that of a version, or all that are recent enough."""
    if wanted == "all":
        return sorted((version, path) for version, path in harness.find_kubectls().items() if version >= (1, 29))
    chosen = harness.choose_kubectl(wanted)
    return [chosen] if chosen else []


def arguments():
    parser = argparse.ArgumentParser(description="Runs kubectl against a control plane.")
    parser.add_argument("files", nargs="*", type=Path, help="command files (all of kubectl/)")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--kubectl", help="version, such as 1.29, or all (the newest)")
    parser.add_argument("--only", default="", help="entries whose name has this in it; what comes before them runs too")
    parser.add_argument("--commands", type=Path, default=HERE.parents[2] / "shared/facts/kubectl/commands.txt",
                        help="the recorded list of commands")
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder")
    return parser.parse_args()


def cut_after(files, only):
    for each in files:
        last = max((i for i, entry in enumerate(each.entries) if only in entry.name), default=-1)
        del each.entries[last + 1:]
    return [each for each in files if each.entries]


def run_with(version, program, berth, files, keep):
    began = time.monotonic()
    with harness.ControlPlane(berth, NODES, TOKENS, kubectl=program, keep=keep) as plane:
        plane.wait_for_nodes()
        runs = run_files(plane, files, version)
        report(runs)
        failed = sum(len(run.failures) for run in runs)
        if failed:
            plane.print_logs()
    passed, skipped = sum(run.passed for run in runs), sum(len(run.skipped) for run in runs)
    print(f"kubectl {version[0]}.{version[1]}: {passed} passed, {failed} failed, {skipped} skipped "
          f"in {time.monotonic() - began:.0f} s")
    return failed == 0


def main():
    options = arguments()
    files = [Reader(path).read() for path in options.files or sorted((HERE / "kubectl").glob("*.txt"))]
    good = bool(options.files) or check_coverage(files, options.commands)
    chosen = versions_to_run(options.kubectl)
    if not chosen:
        print(f"skipped: no kubectl {options.kubectl or ''} on PATH")
        return 77 if good else 1
    files = cut_after(files, options.only) if options.only else files
    berth = harness.find_program(options.berth)
    for version, program in chosen:
        good = run_with(version, program, berth, files, options.keep) and good
    return 0 if good else 1


if __name__ == "__main__":
    harness.end_with(main)
