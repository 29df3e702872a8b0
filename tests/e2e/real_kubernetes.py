#!/usr/bin/env python3
"""A real Kubernetes without nodes: etcd, kube-apiserver, controllers and, if asked for, the scheduler, in a temporary folder.

    with RealKubernetes(find_assets()) as real: ...
    tests/e2e/real_kubernetes.py [--scheduler] [--assets FOLDER]     keeps one until it is interrupted

The programs are those of KUBEBUILDER_ASSETS, else of build/kubernetes, where tools/build_kube_apiserver.sh puts them. TLS,
RBAC and sign-in by token are on. `kubeconfig` is the administrator's; alice, bob and carol have tokens and no rights.
"""

import argparse
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request
from pathlib import Path

import harness
from replies.calls import Access, Caller

ADMINISTRATOR = "administrator"
COMPONENTS = ("kube-controller-manager", "kube-scheduler")
NEEDED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# The controllers would otherwise sign in as an account of their own for each, which takes more of them to run.
TOKENS = "".join(f'{name}-token,{user},{name},"{groups}"\n' for name, user, groups in (
    (ADMINISTRATOR, "administrator", "system:masters"), ("kube-controller-manager", "system:kube-controller-manager", "system:masters"),
    ("kube-scheduler", "system:kube-scheduler", ""), ("alice", "alice", "team-a,dev"), ("bob", "bob", "team-b"),
    ("carol", "carol", ""))).replace(',""\n', "\n")
# No node lifecycle: a node that nobody keeps alive stays as the test made it.
CONTROLLERS = "disruption,garbagecollector,job,namespace,resourcequota"
STRAY = {"metadata": {"name": "stray", "ownerReferences": [
    {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "11111111-2222-3333-4444-555555555555"}]}}


def find_assets():
    """The folder with the programs; None where there is none."""
    root = Path(__file__).resolve().parents[2]
    for folder in (os.environ.get("KUBEBUILDER_ASSETS"), root / "build" / "kubernetes"):
        if folder and all(os.access(Path(folder) / name, os.X_OK) for name in NEEDED):
            return Path(folder).resolve()
    return None


class RealKubernetes(harness.Started):
    def __init__(self, assets, scheduler=False):
        self.assets, self.with_scheduler = assets, scheduler
        self.folder = Path(tempfile.mkdtemp(prefix="berth-real-kubernetes-"))
        self.processes = {}
        self.kubeconfig = self.folder / f"{ADMINISTRATOR}.kubeconfig"
        self.authority = str(self.folder / "certificates" / "apiserver.crt")
        self.port = 0

    # ---- its parts

    def begin(self):
        etcd, peers, self.port = harness.free_port(), harness.free_port(), harness.free_port()
        (self.folder / "tokens.csv").write_text(TOKENS)
        key = self.folder / "service-accounts.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        self.launch("etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}",
                    "--advertise-client-urls", f"http://127.0.0.1:{etcd}", "--listen-peer-urls",
                    f"http://127.0.0.1:{peers}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peers}",
                    "--initial-cluster", f"default=http://127.0.0.1:{peers}")
        self.wait("etcd", lambda: self.healthy_etcd(etcd))
        self.launch("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--secure-port", self.port,
                    "--bind-address", "127.0.0.1", "--cert-dir", self.folder / "certificates", "--authorization-mode", "RBAC",
                    "--token-auth-file", self.folder / "tokens.csv", "--service-cluster-ip-range", "10.0.0.0/24",
                    "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key,
                    "--service-account-signing-key-file", key, "--allow-privileged=true",
                    "--disable-admission-plugins", "ServiceAccount")
        self.wait("kube-apiserver", self.ready)
        for name in (ADMINISTRATOR, *COMPONENTS):
            self.write_kubeconfig(name)
        self.launch("kube-controller-manager", "--kubeconfig", self.config_of("kube-controller-manager"),
                    "--service-account-private-key-file", key, "--root-ca-file", self.authority,
                    "--controllers", CONTROLLERS, "--port=0", "--secure-port=0", "--leader-elect=false")
        if self.with_scheduler:
            # 50 calls a second by default: it would be all that a benchmark measures.
            self.launch("kube-scheduler", "--kubeconfig", self.config_of("kube-scheduler"), "--port=0", "--secure-port=0",
                        "--leader-elect=false", "--kube-api-qps=5000", "--kube-api-burst=5000")
        # They begin one by one; the last of them takes what has lost its owner.
        self.ask("/api/v1/namespaces/default/configmaps", STRAY)
        self.wait("kube-controller-manager", lambda: self.ask("/api/v1/namespaces/default/configmaps/stray") == 404)

    def launch(self, name, *words):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes[name] = subprocess.Popen(
                [self.assets / name, *map(str, words)], cwd=self.folder, env=harness.bare_environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=harness.die_with_parent)

    def wait(self, name, condition):
        def there():
            if self.processes[name].poll() is not None:
                raise harness.Broken(f"{name} ended with {self.processes[name].returncode}")
            return condition()

        harness.wait_until(there, 120, f"{name} answers")

    def healthy_etcd(self, port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def ready(self):
        return os.path.exists(self.authority) and self.ask("/readyz") == 200

    def ask(self, path, body=None):
        try:
            caller = Caller(self.access(), timeout_s=5)
            code = caller.call("POST" if body else "GET", path, body).code
            caller.close()
            return code
        except OSError:
            return 0

    def end(self):
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def print_logs(self):
        for log in sorted(self.folder.glob("*.log")):
            print(f"---- the end of {log.name}")
            print("\n".join(log.read_text(errors="replace").splitlines()[-harness.LOG_TAIL_LINES:]), flush=True)

    # ---- reaching it

    def access(self, name=ADMINISTRATOR):
        return Access("127.0.0.1", self.port, self.authority, token=f"{name}-token")

    def config_of(self, name):
        return self.folder / f"{name}.kubeconfig"

    def write_kubeconfig(self, name):
        authority = base64.b64encode(Path(self.authority).read_bytes()).decode()
        self.config_of(name).write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "real",
            "clusters": [{"name": "real", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                      "certificate-authority-data": authority}}],
            "users": [{"name": name, "user": {"token": f"{name}-token"}}],
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": name}}]}, indent=1))
        self.config_of(name).chmod(0o600)

    def version(self):
        """(1, 20)"""
        caller = Caller(self.access())
        said = caller.call("GET", "/version").body
        caller.close()
        found = re.match(r"v(\d+)\.(\d+)\.", said["gitVersion"])
        return int(found[1]), int(found[2])


def main():
    parser = argparse.ArgumentParser(description="A real Kubernetes without nodes, until it is interrupted.")
    parser.add_argument("--scheduler", action="store_true", help="kube-scheduler too")
    parser.add_argument("--assets", type=Path, help="folder of the programs (KUBEBUILDER_ASSETS or build/kubernetes)")
    options = parser.parse_args()
    assets = options.assets or find_assets()
    if not assets:
        print("skipped: no kube-apiserver; tools/build_kube_apiserver.sh builds one")
        return 77
    # Waiting for a signal beforehand, so that none ends the program without its end being told to the others.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    with RealKubernetes(assets, options.scheduler) as real:
        print(f"export KUBECONFIG={real.kubeconfig}", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
