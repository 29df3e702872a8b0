#!/usr/bin/env python3
"""Prints the functions over 60 lines and the files over 500 that a change made longer. The reviewer judges.

    tools/ratchet.py [BASE]        BASE: the commit to compare with, HEAD~1 if not given

Functions are found by layout (clang-format's for C++): good enough to point, not to forbid. Exit code 0 always.
"""

import re
import subprocess
import sys
from pathlib import Path

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 500
SUFFIXES = (".h", ".cc", ".py")
NO_FUNCTION = re.compile(r"^\s*(?:\}\s*)?(?:if|else|for|while|switch|do|catch|try|return|namespace|class|struct|enum|union)\b")


def git(*arguments):
    answer = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return answer.stdout if answer.returncode == 0 else None


def functions(text, suffix):
    """{name: length in lines}, of several with one name the longest."""
    lines, found = text.split("\n"), {}
    for end, line in enumerate(lines):
        start, name = end, None
        if suffix == ".py":
            name = re.match(r"\s*def (\w+)", line)
        elif re.search(r"\)[\w\s:&>\-<,{}()]*\{$", line):
            # A signature may take several lines: it begins where its parentheses balance.
            depth = line.count(")") - line.count("(")
            while depth > 0 and start > 0 and end - start < 20:
                start -= 1
                depth += lines[start].count(")") - lines[start].count("(")
            if not NO_FUNCTION.match(lines[start]) and "](" not in lines[start]:
                name = re.search(r"([\w:~]+)\s*\(", lines[start])
        if not name:
            continue
        indent = len(lines[start]) - len(lines[start].lstrip())
        length = body_length(lines[end:], indent, suffix) + end - start
        found[name.group(1)] = max(length, found.get(name.group(1), 0))
    return found


def body_length(lines, indent, suffix):
    """Lines from the signature's last line to the end of the body, which stands no deeper than `indent`."""
    last = 0
    for offset, line in enumerate(lines[1:], start=1):
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= indent:
            return offset + 1 if suffix != ".py" else last + 1
        last = offset
    return last + 1


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD~1"
    if git("rev-parse", "--verify", "--quiet", base) is None:
        base = git("hash-object", "-t", "tree", "/dev/null").strip()  # the first commit is compared with nothing
    changed = (git("diff", "--name-only", base) or "") + (git("ls-files", "--others", "--exclude-standard") or "")
    grown = []
    for name in sorted(set(changed.split("\n"))):
        path = Path(name)
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        now, before = path.read_text(encoding="utf-8", errors="replace"), git("show", f"{base}:{name}") or ""
        lines_now, lines_before = now.count("\n"), before.count("\n")
        if lines_now > FILE_LINES_MAX and lines_now > lines_before:
            grown.append(f"{name}: {lines_before} -> {lines_now} lines")
        functions_before = functions(before, path.suffix)
        for function, length in functions(now, path.suffix).items():
            if length > FUNCTION_LINES_MAX and length > functions_before.get(function, 0):
                grown.append(f"{name}: {function}() {functions_before.get(function, 0)} -> {length} lines")
    for line in grown:
        print("  " + line)
    print(f"ratchet: {len(grown)} long functions or files grew" if grown else "ratchet: nothing long grew")


if __name__ == "__main__":
    main()
