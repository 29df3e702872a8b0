#!/usr/bin/env python3
"""Are the rules tested? Breaks the core in many small ways, one after the other, and asks the tests to notice.

tools/mutants.txt lists what is broken: a line `file PATH`, then pairs of lines, `- ` with a text that stands once in that
file and `+ ` with what takes its place. A text that is gone, or stands there twice, is an error: the list goes with the code.

The mutants are built in a checkout of their own of what is committed, build/mutants/tree, so that nobody's work is touched.
What became of each stands in build/mutants/results; a call goes on where the last one stopped, unless the core, its tests,
the scenarios or the mutant have changed. Ends with 1 if a mutant survived.

usage: ./dev mutants [N] [FILE...]   at most N of those that are left, in these files alone; `./dev mutants 0` only says how
                                     things stand
       tools/mutants.py check        whether the list fits the code as it stands here
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOME = ROOT / "build/mutants"
TREE = HOME / "tree"
BUILD = TREE / "build/release"
RESULTS = HOME / "results"
LIST = ROOT / "tools/mutants.txt"

# The cheap first: program, tests, seeds of its property tests (fewer than in ./dev test where they take long).
TESTS = [
    ("sim_test", "Scenario*", "1"),
    ("fairness_test", "*", "2000"),
    ("state_test", "*", "1000"),
    ("model_test", "NodeConstraints*:Mig*:LayOut*:MilliToPromise*", "1"),
    ("placement_test", "PlaceInDomains*", "10000"),  # with fewer it complains that too little came up
    ("placement_test", "Balance*:Filters*:Place*:Scores*:ScoreIndex*:ChooseSlice*:FixedSlices*:-PlaceInDomains*", "1000"),
    ("cycle_test", "*:-Settling*", "10000"),
    ("cycle_test", "Settling*", "1000"),
]
# What is broken in these rooms is for their own tests to notice.
TESTS_OF_ROOMS = {
    "src/manifest/": [("manifest_test", "*", "100"), ("service_test", "*", "100")],
    "src/policy/": [("policy_test", "*", "100"), ("sim_test", "*", "1")],
    "src/service/": [("service_test", "*", "100")],
    "src/apiserver/": [("apiserver_test", "*", "100"), ("local_api_test", "*", "1")],
}
TIMEOUT_S = 300  # a mutant that never comes to rest is noticed too
WATCHED = ["src/base", "src/model", "src/state", "src/fairness", "src/placement", "src/cycle", "src/sim", "scenarios"]


def run(command, **options):
    return subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def read_list():
    mutants, path, before = [], None, None
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if line.startswith("file "):
            path = line[5:].strip()
        elif line.startswith("- "):
            before = line[2:]
        elif line.startswith("+ ") or line == "+":
            if path is None or before is None:
                sys.exit(f"{LIST.name}:{number}: a '+' line follows a '-' line, below a 'file' line")
            mutants.append((number, path, before, line[2:]))
            before = None
        elif line and not line.startswith("#"):
            sys.exit(f"{LIST.name}:{number}: begin the line with 'file ', '- ', '+ ' or '#'")
    return mutants


def complaints(mutants, tree):
    said = []
    for number, path, before, after in mutants:
        text = (tree / path).read_text() if (tree / path).exists() else ""
        if text.count(before) != 1:
            said.append(f"{LIST.name}:{number}: '{before}' stands {text.count(before)} times in {path}, not once")
        elif before == after:
            said.append(f"{LIST.name}:{number}: changes nothing")
    return said


def room_of(path):
    """Of those that have tests of their own; none: it is of the core."""
    return next((room for room in TESTS_OF_ROOMS if path.startswith(room)), "")


def fresh_tree(rooms):
    """The tree is at the commit that the checkout is at, and unbroken; what tells its sources from others, by room."""
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    if not TREE.exists():
        HOME.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(TREE), commit], cwd=ROOT, check=True)
    run(["git", "checkout", "--quiet", "--force", "--detach", commit], check=True)

    def digest(room):
        watched = WATCHED + ([room.rstrip("/")] if room else [])
        names = subprocess.check_output(["git", "rev-parse"] + [f"HEAD:{each}" for each in watched], cwd=TREE, text=True)
        return hashlib.sha256(names.encode()).hexdigest()[:16]

    return {room: digest(room) for room in rooms}


def fate(room):
    """What becomes of the tree as it is: each program is linked only if those before it noticed nothing."""
    for name, tests, seeds in TESTS_OF_ROOMS.get(room, TESTS):
        environment = dict(os.environ, BERTH_SEEDS=seeds)
        built = run(["ninja", "-C", str(BUILD), name])
        if built.returncode != 0:
            return "does not build\n" + built.stdout[-3000:]
        command = [str(BUILD / "tests" / name), "--gtest_brief=1", f"--gtest_filter={tests}"]
        try:
            done = run(command, env=environment, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return f"killed by {name} (no end)"
        if done.returncode != 0:
            failed = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
            return f"killed by {name} {failed[0].split()[3]}" if failed else f"killed by {name} (died)"
    return "SURVIVED"


def one(path, before, after):
    """What becomes of one mutant; the file is put back whatever happens."""
    file = TREE / path
    sound = file.read_text()
    try:
        file.write_text(sound.replace(before, after))
        return fate(room_of(path)).splitlines()[0]
    finally:
        file.write_text(sound)


def known_results(digests):
    if not RESULTS.exists():
        return {}
    lines = [line.split("\t") for line in RESULTS.read_text().splitlines()]
    return {line[1]: line[2] for line in lines if len(line) == 3 and line[0] == digests.get(room_of(line[1]))}


def checked_list(tree):
    mutants = read_list()
    wrong = complaints(mutants, tree)
    if wrong:
        sys.exit("\n".join(wrong))
    return mutants


def in_files(mutants, files):
    unknown = set(files) - {path for _, path, _, _ in mutants}
    if unknown:
        sys.exit(f"{LIST.name} breaks nothing in {', '.join(sorted(unknown))}")
    return [each for each in mutants if not files or each[1] in files]


def main():
    arguments = sys.argv[1:]
    if arguments == ["check"]:
        print(f"{LIST.name}: {len(checked_list(ROOT))} mutants, each text stands once")
        return 0
    wanted = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else sys.maxsize
    digests = fresh_tree(["", *TESTS_OF_ROOMS])
    mutants = in_files(checked_list(TREE), arguments)
    results = known_results(digests)
    named = [(f"{path}: {before.strip()} -> {after.strip()}", path, before, after) for _, path, before, after in mutants]
    left = [each for each in named if each[0] not in results][:wanted]
    if left:
        print(f"{len(left)} of {len(named)} mutants to go", flush=True)
        run(["cmake", "--preset", "release", "-DBERTH_BATCH=0"], check=True)  # one file changes each time
        for room in sorted({room_of(path) for _, path, _, _ in left}):
            if (unbroken := fate(room)) != "SURVIVED":
                sys.exit(f"the unbroken tree: {unbroken}")
    for name, path, before, after in left:
        began = time.monotonic()
        results[name] = one(path, before, after)
        with RESULTS.open("a") as out:
            out.write(f"{digests[room_of(path)]}\t{name}\t{results[name]}\n")
        print(f"{time.monotonic() - began:5.0f} s  {results[name]:40}  {name}", flush=True)
    count = lambda begins: sum(results.get(each[0], "").startswith(begins) for each in named)
    for name, *_ in named:
        if results.get(name) in ("SURVIVED", "does not build"):
            print(f"{results[name]}: {name}")
    print(f"{len(named)} mutants: {count('killed')} killed, {count('SURVIVED')} survived, "
          f"{count('does not build')} do not build, {sum(each[0] not in results for each in named)} not tried yet")
    return 1 if count("SURVIVED") + count("does not build") else 0


if __name__ == "__main__":
    sys.exit(main())
