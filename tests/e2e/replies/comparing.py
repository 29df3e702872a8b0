"""Two replies to one request: what each server makes up by itself is taken out, the rest is compared."""

import fnmatch
import re
from dataclasses import dataclass

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
AGE = re.compile(r"(\d+[smhd])+|<invalid>")
REVISION = re.compile(r"(current: |resource version: |ResourceVersion: |in record \()\d+( \(\d+\))?")
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class PartOfDict(dict):
    """The beginning of one: what is missing is not known."""


class PartOfList(list):
    """The beginning of one."""


class PartOfText(str):
    """The beginning of one."""


class Normaliser:
    """Of one server's replies in one story. Uids of one reply become the same where they were the same."""

    def __init__(self, name_space):
        self.name_space, self.uids, self.prefixes = name_space, {}, set()

    def note_prefix(self, body):
        """Names that the server makes from this one are all alike."""
        if isinstance(body, dict) and isinstance(body.get("metadata"), dict) and body["metadata"].get("generateName"):
            self.prefixes.add(body["metadata"]["generateName"])

    def text(self, text):
        text = UUID.sub(lambda found: self.uids.setdefault(found[0], f"uid-{len(self.uids) + 1}"), text)
        text = TIME.sub(lambda found: "TIME.FRACTION" if found[1] else "TIME", text)
        text = REVISION.sub(r"\1N", text).replace(f"/{self.name_space}/", "/NAMESPACE/")
        for prefix in self.prefixes:
            text = re.sub(rf"(?<![\w-]){re.escape(prefix)}[{ALPHABET}]{{5}}(?![\w-])", f"{prefix}?????", text)
        return "AGE" if AGE.fullmatch(text) else text

    def value(self, value, key=""):
        if isinstance(value, dict):
            self.note_prefix({"metadata": value})
            made = {self.text(name): self.value(each, name) for name, each in sorted(value.items())}
            return PartOfDict(made) if isinstance(value, PartOfDict) else made
        if isinstance(value, list):
            made = [self.value(each) for each in value]
            return PartOfList(made) if isinstance(value, PartOfList) else made
        if isinstance(value, str):
            if key == "resourceVersion" and value.isdigit() and value != "0":
                return "REVISION"
            if key == "continue":
                return "MORE"
            if key == "namespace" and value == self.name_space:
                return "NAMESPACE"
            made = self.text(value)
            return PartOfText(made) if isinstance(value, PartOfText) else made
        return value

    def facts(self, step, reply):
        """All that is compared of a reply."""
        self.note_prefix(step.body)
        self.uids = {}
        body = reply.body
        if step.look and not reply.frames:
            try:
                body = step.look(reply)
            except (AttributeError, KeyError, TypeError, IndexError):
                pass  # not what was asked for: compared whole
        said = {"code": reply.code, "type": reply.headers.get("content-type"), "body": body, "frames": reply.frames}
        said["headers"] = {name: reply.headers.get(name) for name in step.seen}
        return self.value(said)


def without_wording(value):
    """Of two servers of different age: which fields are wrong and in what way is compared, not in what words it is said."""
    if isinstance(value, list):
        return [without_wording(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: without_wording(each) for name, each in value.items() if not (name == "description" and "priority" in value)}
    if value.get("kind") == "Status" and isinstance(value.get("details"), dict) and value["details"].get("causes"):
        del made["message"]
        made["details"]["causes"] = [{name: each[name] for name in ("reason", "field") if name in each}
                                     for each in value["details"]["causes"]]
    return made


MISSING = "(nothing)"


def differences(ours, theirs, path=""):
    """[(path, ours, theirs)] of each leaf or branch that is not the same."""
    if isinstance(theirs, PartOfText):
        return [] if isinstance(ours, str) and ours.startswith(theirs) else [(path, ours, theirs + "...")]
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = list(theirs) + [name for name in ours if name not in theirs and not isinstance(theirs, PartOfDict)]
        return [each for name in names
                for each in differences(ours.get(name, MISSING), theirs.get(name, MISSING), f"{path}.{name}".lstrip("."))]
    if isinstance(ours, list) and isinstance(theirs, list):
        count = len(theirs) if isinstance(theirs, PartOfList) else max(len(ours), len(theirs))
        return [each for i in range(count)
                for each in differences(ours[i] if i < len(ours) else MISSING, theirs[i] if i < len(theirs) else MISSING,
                                        f"{path}.{i}")]
    return [] if ours == theirs and type(ours) is type(theirs) else [(path, ours, theirs)]


def disagreements(ours, theirs):
    """The same of whole replies. Where one did what was asked and the other did not, that is all there is to say."""
    if "code" in theirs and ours["code"] != theirs["code"]:
        return [("code", f"{ours['code']} {ours['body']}", f"{theirs['code']} {theirs.get('body')}")]
    return differences(ours, theirs)


@dataclass
class Known:
    """Differences that are meant, or are the other's: patterns of "story: step" and of the path."""

    step: str
    path: str
    why: str
    below: str = ""  # only a server older than this does it

    def covers(self, step, path):
        return fnmatch.fnmatchcase(step, self.step) and fnmatch.fnmatchcase(path, self.path)


def as_version(text):
    return tuple(int(part) for part in text.split(".")) if text else (0, 0)


def shown(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 300 else text[:300] + "..."


class Report:
    """Counts what agrees, prints what does not, and complains of known differences that are no more."""

    def __init__(self, known, version):
        self.known = [each for each in known if not each.below or version < as_version(each.below)]
        self.used = set()
        self.compared, self.agreed, self.excused, self.failed, self.skipped = 0, 0, 0, 0, 0
        self.skips = {}

    def take(self, name, found):
        self.compared += 1
        left = []
        for path, ours, theirs in found:
            covering = [i for i, each in enumerate(self.known) if each.covers(name, path)]
            self.used.update(covering)
            if not covering:
                left.append((path, ours, theirs))
        if left:
            self.failed += 1
            print(f"DIFFERENT {name}")
            for path, ours, theirs in left:
                print(f"    {path}\n      ours   {shown(ours)}\n      theirs {shown(theirs)}")
        elif found:
            self.excused += 1
        else:
            self.agreed += 1

    def skip(self, why):
        self.skipped += 1
        self.skips[why] = self.skips.get(why, 0) + 1

    def good(self, title, whole=True):
        """Prints the sum; whether all is as it should be. `whole`: everything was asked, so what is listed must appear."""
        unused = [each for i, each in enumerate(self.known) if i not in self.used] if whole else []
        for each in unused:
            print(f"NO LONGER DIFFERENT {each.step} | {each.path}: take it off the list ({each.why})")
        for why, count in sorted(self.skips.items()):
            print(f"skipped {count}: {why}")
        print(f"{title}: {self.compared} replies compared, {self.agreed} the same, {self.excused} with listed differences, "
              f"{self.failed} different, {self.skipped} skipped; {len(unused)} of {len(self.known)} on the list are stale")
        return not self.failed and not unused
