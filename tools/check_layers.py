#!/usr/bin/env python3
"""Checks the arrows between rooms, the purity of the core, and that names and draws mean one thing everywhere.

    tools/check_layers.py [ROOT]

The arrows are read from the berth_room and berth_app lines of CMakeLists.txt, which also decide what is linked. Prints
every violation as file:line with the reason and the way out; exit code 1 if there is one.

A line of the core may be excused, with a reason:    // layers: allow double: printed only, decides nothing
Arrows cannot be excused: change the arrow in CMakeLists.txt, and say why in docs/decisions/.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Room:
    deps: list = field(default_factory=list)
    test_deps: list = field(default_factory=list)
    libs: list = field(default_factory=list)
    core: bool = False
    line: int = 0


@dataclass(frozen=True)
class Violation:
    file: str
    line: int
    what: str
    why: str
    instead: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.what}\n    why: {self.why}\n    instead: {self.instead}"


# ---- what the core may not do --------------------------------------------------------------------------------------

TIME = ("the core is told the time and never asks for it: the same inputs must give the same plan",
        "take a berth::Time argument (base/time.h)")
THREADS = ("the core has one thread, so that a run can be replayed",
           "put the concurrency into a shell and hand over values")
DICE = ("randomness is an input: the same seed must give the same numbers with every compiler",
        "take a berth::Rng argument (base/rng.h)")
FILES = ("the core does no input or output", "return a value; let a shell read, write and print")
SYSTEM = ("the core does not know the machine it runs on", "ask in a shell and pass the answer in as an argument")
HASHED = ("the order of a hash table differs between libraries and decides ties in silence",
          "use std::map, a sorted std::vector, or an index by Id")
FLOATS = ("rounding differs between compilers, so floats must not take part in a decision",
          "use integers with the unit in the name, exact ratios by 128-bit products (base/wide.h), fixed point; "
          "convert to a float where it is displayed, in a shell")
ADDRESSES = ("addresses differ from run to run", "compare Ids or positions")
HASHES = ("std::hash differs between libraries", "use berth::Hasher (base/hash.h)")
DRAWN = ("compilers evaluate the arguments of a call in different orders: the same seed would mean different worlds",
         "draw the first into a constant above; the members of braces are evaluated in order")
BUILD_TIME = ("the same source must give the same program", "pass a version in from a shell")
LOCALE = ("the meaning of text must not depend on the machine's locale", "use std::from_chars and std::to_chars")
OUTSIDE = ("the core stands on the standard library and on what its berth_room line names under LIBS",
           "move the use into a shell, or add the library to LIBS in CMakeLists.txt and say why in docs/decisions/")

HEADERS = {}
for names, rule in [
    ("chrono ctime time.h sys/time.h", TIME),
    ("thread mutex shared_mutex condition_variable future atomic stop_token semaphore latch barrier coroutine "
     "pthread.h threads.h stdatomic.h", THREADS),
    ("random", DICE),
    ("fstream iostream istream iomanip filesystem cstdio stdio.h syncstream print", FILES),
    ("unistd.h fcntl.h poll.h netdb.h signal.h csignal dlfcn.h sched.h dirent.h errno.h cerrno", SYSTEM),
    ("unordered_map unordered_set ext/pb_ds/assoc_container.hpp", HASHED),
    ("cmath math.h cfloat float.h cfenv fenv.h complex numbers valarray", FLOATS),
    ("locale clocale locale.h regex", LOCALE),
]:
    HEADERS.update(dict.fromkeys(names.split(), rule))
SYSTEM_FOLDERS = ("sys", "linux", "netinet", "arpa", "net", "asm")

TOKENS = [(re.compile(pattern), rule) for pattern, rule in [
    (r"\b(?:float|double)\b", FLOATS),
    (r"(?<![\w.])(?:\d[\d']*\.\d*|\.\d+|\d[\d']*[eE][+-]?\d)\w*", FLOATS),
    (r"\bstd::(?:pow|sqrt|cbrt|exp2?|log\w*|floor|ceil|l?l?round|hypot)\b", FLOATS),
    (r"\b(?:secure_)?getenv\b", SYSTEM),
    (r"\bs?rand(?=\s*\()", DICE),
    (r"\bstd::(?:random_device|mt19937\w*|\w+_distribution)\b", DICE),
    (r"\b(?:system|steady|high_resolution|utc|file)_clock\b", TIME),
    (r"\b(?:gettimeofday|clock_gettime)\b", TIME),
    (r"\btime(?=\s*\(\s*(?:nullptr|NULL|0|&))", TIME),
    (r"\b__(?:DATE|TIME|TIMESTAMP)__\b", BUILD_TIME),
    (r"\bv?(?:f|s|sn|d|as)?printf\b", FILES),
    (r"\b(?:f?puts|putchar)(?=\s*\()", FILES),
    (r"\bstd::(?:cout|cerr|clog|cin)\b", FILES),
    (r"\bstd::unordered_\w+", HASHED),
    (r"\bstd::hash\b", HASHES),
    (r"\bstd::(?:j?thread|(?:shared_|recursive_)?mutex|atomic\w*|async|future|promise|condition_variable)\b", THREADS),
    (r"\bthread_local\b", THREADS),
    (r"\breinterpret_cast\s*<[^<>*&]*>", ADDRESSES),
    (r"\bu?intptr_t\b", ADDRESSES),
]]

# The one place of the core that may print: the last words of a broken invariant.
MAY_PRINT = "src/base/assert.cc"

# ---- reading ---------------------------------------------------------------------------------------------------------


def read_rooms(cmake_text):
    """The berth_room and berth_app lines: ({room: Room}, Room of the programs in apps/)."""
    text = re.sub(r"#[^\n]*", "", cmake_text)
    rooms, app = {}, Room()
    for call in re.finditer(r"^[ \t]*berth_(room|app)\(([^)]*)\)", text, re.MULTILINE):
        name, *words = call.group(2).split()
        room = Room(line=text.count("\n", 0, call.start()) + 1)
        target = None
        for word in words:
            if word == "CORE":
                room.core, target = True, None
            elif word in ("DEPS", "TEST_DEPS", "LIBS"):
                target = {"DEPS": room.deps, "TEST_DEPS": room.test_deps, "LIBS": room.libs}[word]
            elif target is not None:
                target.append(word)
        if call.group(1) == "room":
            rooms[name] = room
        else:
            app = room
    return rooms, app


def below(rooms, deps):
    """Every room that can be reached from `deps` along the arrows."""
    reached, queue = set(), list(deps)
    while queue:
        name = queue.pop()
        if name in reached or name not in rooms:
            continue
        reached.add(name)
        queue += rooms[name].deps
    return reached


SKIPPED = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)")'
    r'|(?P<text>"(?:\\.|[^"\\\n])*")'
    r"|(?P<number>(?<!\w)\d(?:[\w.']*\w)?)"  # so that the ' of 1'000 opens no character
    r"|(?P<char>'(?:\\.|[^'\\\n])+')", re.DOTALL)


def blank(text, kinds):
    """The text with comments and literals of these kinds replaced by spaces; lines and columns stay."""
    def replace(match):
        return re.sub(r"[^\n]", " ", match.group()) if match.lastgroup in kinds else match.group()
    return SKIPPED.sub(replace, text)


INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
ALLOW = re.compile(r"//\s*layers:\s*allow\b\s*(.*)$")
ALLOW_FORM = re.compile(r"(\S+?):(?:\s+(.*))?$")

# ---- checking --------------------------------------------------------------------------------------------------------


def check_arrows(rooms, root):
    found = []

    def add(line, what, why, instead):
        found.append(Violation("CMakeLists.txt", line, what, why, instead))

    if not rooms:
        add(1, "no berth_room line found", "the arrows are read from them", "write berth_room(NAME [CORE] DEPS ...)")
    for name, room in rooms.items():
        if not (root / "src" / name).is_dir():
            add(room.line, f"room '{name}' has no folder src/{name}", "a room is a folder",
                "create it or drop the line")
        for dep in room.deps + room.test_deps:
            if dep not in rooms:
                add(room.line, f"'{name}' depends on '{dep}', which is no room", "an arrow joins two rooms",
                    "add berth_room(" + dep + " ...) above, or correct the name")
            elif room.core and not rooms[dep].core:
                add(room.line, f"core room '{name}' depends on shell '{dep}'", "the core stands on the core alone",
                    "turn the arrow round")
        if name in below(rooms, room.deps):
            add(room.line, f"'{name}' depends on itself through its arrows",
                "rooms that need each other cannot be understood or tested alone",
                "move what both need into a room below both")
    folders = sorted(p.name for p in (root / "src").iterdir() if p.is_dir()) if (root / "src").is_dir() else []
    for folder in folders:
        if folder not in rooms:
            add(1, f"src/{folder} is no room", "what no berth_room line names is neither built nor checked",
                f"add berth_room({folder} DEPS ...) to CMakeLists.txt")
    return found


def check_include(path, room_name, may, rooms):
    """The complaint about one include of a project file, or None."""
    target, slash, _ = path.partition("/")
    if not slash:
        return (f'includes "{path}" without its room', "the arrow that is used must be visible",
                f'write "{room_name}/{path}"' if room_name in rooms else 'write "room/' + path + '"')
    if target not in rooms:
        return (f'includes "{path}", but \'{target}\' is no room', "rooms are the berth_room lines of CMakeLists.txt",
                "correct the name, or use <...> for a library")
    if target in may:
        return None
    known = " ".join(name for name in rooms if name in may and name != room_name) or "nothing"
    return (f"{room_name} may not include \"{path}\"",
            f"there is no arrow from {target} to {room_name}; it may know: {known}",
            f"pass the value in as an argument, or move what both need into a room below both; "
            f"if the arrow is right, add it to berth_room({room_name} ...) and say why in docs/decisions/")


def header_rule(header, room):
    """Why the core may not include <header>, or None."""
    folder, slash, _ = header.partition("/")
    if header in HEADERS:
        return HEADERS[header]
    if slash and folder in SYSTEM_FOLDERS:
        return SYSTEM
    if any(lib.lower().startswith(folder.removesuffix(".h").lower()) for lib in room.libs):
        return None
    return OUTSIDE if slash or header.endswith((".h", ".hpp")) else None


def impurities(code_line, include, room):
    """[(token, what, rule)] of one line of the core."""
    if include:
        rule = header_rule(include, room)
        return [(include, f"the core includes <{include}>", rule)] if rule else []
    out = []
    for pattern, rule in TOKENS:
        for match in pattern.finditer(code_line):
            out.append((match.group(), f"the core uses '{match.group()}'", rule))
    return out


def check_file(file, root, room_name, room, may, rooms):
    relative = file.relative_to(root).as_posix()
    found = []

    def add(line, what, why, instead):
        found.append(Violation(relative, line, what, why, instead))

    text = file.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    without_comments = blank(text, {"comment"}).split("\n")
    code = blank(text, {"comment", "raw", "text", "char"}).split("\n")
    for number, call in check_draws("\n".join(code)):
        add(number, f"two arguments of {call}() are drawn at random", *DRAWN)
    is_beside_code = file.stem.endswith(("_test", "_bench", "_fuzz"))
    pure = room.core and not is_beside_code

    if room_name in rooms and file.suffix == ".cc" and file.parent != root / "src" / room_name:
        add(1, "is not built", "rooms are flat: only src/ROOM/*.cc are", f"move it to src/{room_name}/")
    for number, line in enumerate(lines, start=1):
        include = INCLUDE.match(without_comments[number - 1]) if code[number - 1].lstrip().startswith("#") else None
        project, header = include.groups() if include else (None, None)
        if project and not (room_name == "apps" and "/" not in project):
            complaint = check_include(project, room_name, may, rooms)
            if complaint:
                add(number, *complaint)
        if header and header.partition("/")[0] in rooms and "/" in header:
            add(number, f"includes <{header}> as if it were a library", "arrows are checked on includes in quotes",
                f'write "{header}"')
            header = None

        excuse = ALLOW.search(line)
        form = ALLOW_FORM.match(excuse.group(1).strip()) if excuse else None
        allowed, reason = form.groups() if form else (None, None)
        if excuse and not reason:
            add(number, "excuse without a reason", "the next person must be able to judge whether it still holds",
                "write // layers: allow TOKEN: why it cannot change a decision")
        excused = False
        for token, what, rule in impurities(code[number - 1], header, room) if pure else []:
            if relative == MAY_PRINT and rule is FILES:
                continue
            if allowed in (token, f"<{token}>"):
                excused = True
                continue
            add(number, what, *rule)
        if excuse and reason and not excused:
            add(number, f"excuses '{allowed}', which does not occur here or needs no excuse",
                "an excuse that excuses nothing hides the next violation", "remove the excuse")
    return found


CALL = re.compile(r"\b(?!(?:if|for|while|switch|return)\b)(\w+)(?:<[^<>()]*>)?\(")
DRAW = re.compile(r"\brng_?\.\w+\(|\w(?:<[^<>]*>)?\((?:[^()]*,\s*)?rng_?\b")


def arguments_of(code, opening):
    """The arguments of the call whose bracket stands at `opening`; of what is no call, what there is of it."""
    depth, start, out = 0, opening + 1, []
    for at in range(opening, len(code)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth == 0 or (depth == 1 and code[at] in ",;"):
            out.append(code[start:at])
            start = at + 1
        if depth == 0:
            break
    return out


def check_draws(code):
    """[(line, call)] of the calls with two arguments that each draw from `rng`."""
    for call in CALL.finditer(code) if "rng" in code else []:
        arguments = arguments_of(code, call.end() - 1)
        if sum(bool(DRAW.search(each)) for each in arguments if not each.lstrip().startswith("[")) > 1:
            yield code.count("\n", 0, call.start()) + 1, call.group(1)


TYPE = re.compile(r"^(?:class|struct|enum class|union) (\w+)(?! *;)(?!\w|::)|^using (\w+) =", re.MULTILINE)
CONSTANT = re.compile(r"^inline constexpr [\w:<>\s*&,]+?\b(k[A-Z]\w*)(?:\[\])?\s*[={]", re.MULTILINE)


def check_names(headers, root):
    """Two headers that give one name to two things: what the linker takes for one and the same."""
    found, seen = [], {}
    for file in headers:
        text = blank(file.read_text(encoding="utf-8", errors="replace"), {"comment", "raw", "text", "char"})
        for match in [*TYPE.finditer(text), *CONSTANT.finditer(text)]:
            name = next(group for group in match.groups() if group)
            first = seen.setdefault(name, file)
            if first != file:
                found.append(Violation(
                    file.relative_to(root).as_posix(), text.count("\n", 0, match.start()) + 1,
                    f"names '{name}', as {first.relative_to(root).as_posix()} does",
                    "all rooms share one namespace, and a program that holds both mixes them up without a word",
                    "give one of them a name of its own, or move it where both can include it"))
    return found


def check(root):
    """(violations, number of files checked) of the tree at `root`."""
    rooms, app = read_rooms((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    found = check_arrows(rooms, root)
    count = 0
    folders = [(name, room, root / "src" / name) for name, room in rooms.items()] + [("apps", app, root / "apps")]
    for name, room, folder in folders:
        may = below(rooms, room.deps) | {name}
        tests_may = may | below(rooms, room.test_deps)
        for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
            if file.suffix in (".h", ".cc"):
                is_test = file.stem.endswith(("_test", "_bench"))  # also a header, which tests share
                found += check_file(file, root, name, room, tests_may if is_test else may, rooms)
                count += 1
    found += check_names([file for _, _, folder in folders if folder.is_dir() for file in sorted(folder.glob("*.h"))],
                         root)
    for file in sorted((root / "src").glob("*.*")) if (root / "src").is_dir() else []:
        if file.suffix in (".h", ".cc"):
            found.append(Violation(file.relative_to(root).as_posix(), 1, "stands in no room",
                                   "what stands outside the rooms is neither built nor checked", "move it into a room"))
    return found, len(rooms), count


def main(arguments):
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found, rooms, files = check(root.resolve())
    for violation in found:
        print(violation)
    print(f"layers: {rooms} rooms, {files} files: " + (f"{len(found)} violations" if found else "clean"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
