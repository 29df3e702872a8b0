"""A whole control plane in a temporary folder, for the end-to-end tests beside this file.

    with ControlPlane(program) as plane:
        plane.run("get nodes")

Nothing of it outlives the `with`: the processes are killed by their ids, the folder is removed. Where the test failed,
the ends of the logs are printed first.
"""

import base64
import ctypes
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOG_TAIL_LINES = 40
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Broken(Exception):
    """The control plane or the machine is not as the test needs it: nothing can be said about the behaviour."""


def end_with(main):
    """Ends the program with what a test's main answers; with 2 where nothing can be said."""
    try:
        sys.exit(main())
    except Broken as broken:
        print(f"BROKEN: {broken}")
        sys.exit(2)


class Started:
    """What a test starts by `with`: whatever becomes of it, it is ended, and its logs are shown where something failed."""

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.print_logs()
            self.end()
            raise
        return self

    def __exit__(self, kind, error, trace):
        # A test that only counted its failures calls print_logs() itself.
        if kind is not None and kind is not SystemExit:
            self.print_logs()
        self.end()


# ---- kubectl ---------------------------------------------------------------------------------------------------------


def kubectl_version(program):
    """(1, 33) of a kubectl program; None if it does not say."""
    reply = subprocess.run([program, "version", "--client"], capture_output=True, text=True, env=bare_environment())
    found = re.search(r"v(\d+)\.(\d+)\.", reply.stdout)
    return (int(found[1]), int(found[2])) if found else None


def find_kubectls():
    """{version: path} of every kubectl on PATH, and of those kept under versioned names beside one of them."""
    found = {}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        entry = Path(folder or ".") / "kubectl"
        if not os.access(entry, os.X_OK):
            continue
        # One that only picks among versioned programs beside it is not asked: those are.
        versioned = sorted(entry.resolve().parent.glob("kubectl.1.[0-9]*"))
        for program in versioned or [entry]:
            version = kubectl_version(str(program))
            if version and version not in found:
                found[version] = str(program.resolve())
    return found


def bare_environment():
    """The environment without what could point kubectl at somebody's real cluster."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    kept.pop("KUBECONFIG", None)
    return kept


# ---- processes -------------------------------------------------------------------------------------------------------


def living_processes():
    """(pid, parent, session) of each."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        state, parent, session, threads = fields[0], fields[1], fields[3], fields[17]
        # A first thread may be dead while others still write to the disk: their files are open until then.
        if state != "Z" or int(threads) > 1:
            yield int(entry.name), int(parent), int(session)


def words_of(pid):
    """Its command line; empty if it is gone."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return [word for word in text.split("\0") if word]
    except OSError:
        return []


def children_of(parent):
    """{pid: words of its command line} of the living children of a process."""
    return {pid: words_of(pid) for pid, its_parent, _ in living_processes() if its_parent == parent}


def die_with_parent():
    """In a child, before it begins: whoever kills this test kills what it started."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_now(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds, what):
    """Polls until condition() is true and returns its value; complains after that many seconds."""
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Broken(f"{what}: not within {seconds} s")
        time.sleep(0.05)


# ---- the control plane -----------------------------------------------------------------------------------------------


class ControlPlane(Started):
    def __init__(self, program, nodes="4xH100x8,1xcpu", tokens="", kubectl=None, port=0, keep=False, options=()):
        self.program, self.nodes, self.port, self.keep = str(Path(program).resolve()), nodes, port, keep
        self.options = tuple(options)  # more of `berth up`
        self.folder = Path(tempfile.mkdtemp(prefix="berth-e2e-"))
        self.data = self.folder / "data"
        self.kubeconfig = self.data / "kubeconfig"
        self.kubectl = kubectl
        self.process = None
        self.output = None
        self.said = ""
        self.data.mkdir(mode=0o700)
        if tokens:
            (self.data / "tokens.csv").write_text(tokens)

    def begin(self):
        self.start()
        if self.kubectl:
            self.provide_kubectl()

    def start(self):
        """Starts `berth up` and waits until it says that it is up."""
        self.output = open(self.folder / "up.log", "ab")
        self.process = subprocess.Popen(
            [self.program, "up", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", "--nodes", self.nodes,
             *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.output, start_new_session=True,
            preexec_fn=die_with_parent)
        self.said = ""
        until = time.monotonic() + 60
        while "export KUBECONFIG=" not in self.said:
            readable, _, _ = select.select([self.process.stdout], [], [], 0.2)
            piece = os.read(self.process.stdout.fileno(), 4096) if readable else b""
            self.said += piece.decode(errors="replace")
            if readable and not piece:
                raise Broken(f"`berth up` ended with {self.process.wait()} before it was up")
            if time.monotonic() > until:
                raise Broken("`berth up` was not up within 60 s")

    def kill(self):
        """Kills `berth up` and with it all it runs; the folder stays, so that start() goes on from there."""
        if self.process is None:
            return
        session = self.process.pid
        kill_now(session)
        self.process.wait()
        # The system ends the children of who is dead, but not at once; until then the folder is still theirs.
        wait_until(lambda: all(each != session for _, _, each in living_processes()), 10, "what `berth up` ran ended")
        self.process.stdout.close()
        self.output.close()
        self.process = None

    def end(self):
        self.kill()
        if self.keep:
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def parts(self):
        """{"apiserver": pid, ...} of those that live now."""
        return {words[1]: pid for pid, words in children_of(self.process.pid).items() if len(words) > 1}

    def print_logs(self):
        for log in [self.folder / "up.log", *sorted((self.data / "log").glob("*.log"))]:
            if not log.exists():
                continue
            lines = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
            print(f"---- the end of {log.name}")
            print("\n".join(lines))
        sys.stdout.flush()

    # ---- kubectl on it

    def provide_kubectl(self):
        """A folder in which the program is called kubectl, and a home in which nothing of the user's lies."""
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "kubectl").symlink_to(self.kubectl)
        (self.folder / "home").mkdir()

    def environment(self, kubeconfig=None):
        kept = bare_environment()
        kept.update(KUBECONFIG=str(kubeconfig or self.kubeconfig), HOME=str(self.folder / "home"),
                    KUBECACHEDIR=str(self.folder / "home" / "cache"), LC_ALL="C.UTF-8",
                    PATH=f"{self.folder / 'bin'}{os.pathsep}{kept.get('PATH', '')}")
        return kept

    def run(self, words, kubeconfig=None, text=None, limit_s=60):
        """Runs `kubectl WORDS`, a list or a text to be split at spaces."""
        words = words.split() if isinstance(words, str) else list(words)
        return subprocess.run(["kubectl", *words], capture_output=True, text=True, input=text, timeout=limit_s,
                              env=self.environment(kubeconfig))

    def must(self, words, **more):
        """The same; complains unless it succeeds, and returns what it printed."""
        reply = self.run(words, **more)
        if reply.returncode != 0:
            raise Broken(f"kubectl {words}: exit code {reply.returncode}: {reply.stderr.strip()}")
        return reply.stdout

    def run_berth(self, words, text=None):
        """One of Berth's own commands, as somebody who has the control plane's kubeconfig."""
        environment = {**bare_environment(), "KUBECONFIG": str(self.kubeconfig), "LC_ALL": "C.UTF-8"}
        return subprocess.run([self.program, *(words if isinstance(words, list) else words.split())],
                              capture_output=True, text=True, input=text, timeout=60, env=environment)

    def wait_for_nodes(self, seconds=60):
        def all_ready():
            reply = self.run("get nodes --no-headers")
            lines = reply.stdout.splitlines()
            ready = sum(" Ready " in line for line in lines)
            return reply.returncode == 0 and ready == len(lines) >= self.node_count()

        wait_until(all_ready, seconds, "all nodes ready")

    def node_count(self):
        return sum(int(group.split("x")[0]) for group in self.nodes.split(","))

    def user_kubeconfig(self, name, path, namespace=None, token=None):
        """A kubeconfig for a namespace; with a token for that user instead of the administrator."""
        text = self.kubeconfig.read_text()
        if token:
            # Not by `kubectl config set-credentials`: that of Debian 12 crashes.
            text = re.sub(r'"?client-certificate-data"?:.*', f'token: "{token}"', text)
            text = re.sub(r'\n[^\n]*client-key-data"?:.*', "", text)
        path.write_text(text)
        if namespace:
            self.must(["config", "set-context", "--current", f"--namespace={namespace}"], kubeconfig=path)
        return path

    # ---- the same without kubectl

    def credentials(self):
        """(host, port, client certificate, client key, authority): the last three are files in the folder."""
        text = self.kubeconfig.read_text()
        host, port = re.search(r"server:\s*\"?https://([^:\"\s]+):(\d+)", text).groups()
        files = []
        for field in ("client-certificate-data", "client-key-data", "certificate-authority-data"):
            file = self.folder / field
            file.write_bytes(base64.b64decode(re.search(field + r":\s*\"?([A-Za-z0-9+/=]+)", text)[1]))
            files.append(str(file))
        return host, int(port), *files


def find_program(given):
    """The berth program to test: as given, else $BERTH, else the release tree's."""
    root = Path(__file__).resolve().parents[2]
    for candidate in (given, os.environ.get("BERTH"), root / "build" / "release" / "berth"):
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise Broken("no berth program: name it with --berth, or build it (./dev build)")


def choose_kubectl(wanted):
    """(version, path) of the kubectl to use: the newest, or that of a version such as 1.29."""
    found = find_kubectls()
    if wanted:
        version = tuple(int(part) for part in wanted.split("."))
        return (version, found[version]) if version in found else None
    return max(found.items()) if found else None
