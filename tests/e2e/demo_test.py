#!/usr/bin/env python3
"""`berth demo`: a short afternoon, killed amid it with everything that it runs, goes on and ends with its report.

    tests/e2e/demo_test.py [--berth PROGRAM] [--nodes N] [--minutes M]
"""

import argparse
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import time

import harness


class Demo(harness.ControlPlane):
    """The folder of a demo; start_demo() instead of start()."""

    def start_demo(self, *words):
        self.output = open(self.folder / "up.log", "ab")
        self.process = subprocess.Popen(
            [self.program, "demo", "--data", str(self.data), *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.output, start_new_session=True, env=harness.bare_environment(),
            preexec_fn=harness.die_with_parent)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.said = ""

    def read(self):
        """All that it has said by now."""
        try:
            self.said += (self.process.stdout.read() or b"").decode()
        except BlockingIOError:
            pass
        return self.said

    def wait_for(self, pattern, seconds):
        def said():
            found = re.search(pattern, self.read())
            if not found and self.process.poll() is not None and not re.search(pattern, self.read()):
                raise harness.Broken(f"the demo ended with {self.process.returncode}; it said:\n{self.said}")
            return re.search(pattern, self.said)

        return harness.wait_until(said, seconds, f"the demo says {pattern!r}")

    def kill_all(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.kill()

    def items(self, path):
        host, port, certificate, key, authority = self.credentials()
        context = ssl.create_default_context(cafile=authority)
        context.load_cert_chain(certificate, key)
        connection = http.client.HTTPSConnection(host, port, context=context, timeout=60)
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())["items"]


def check(condition, what, text=""):
    if not condition:
        raise harness.Broken(f"{what}\n{text}")
    print(f"ok    {what}", flush=True)


def submitted(demo):
    """(so many, of all) as last said."""
    found = re.findall(r"([\d,]+) of ([\d,]+) jobs submitted", demo.read())
    return tuple(int(each.replace(",", "")) for each in found[-1]) if found else (0, 0)


def complete(job):
    return any(each["type"] == "Complete" and each["status"] == "True" for each in job["status"].get("conditions", []))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth")
    parser.add_argument("--nodes", default="20")
    parser.add_argument("--minutes", default="0.2")
    options = parser.parse_args()
    demo = Demo(harness.find_program(options.berth))
    afternoon = ["--nodes", options.nodes, "--minutes", options.minutes]
    try:
        began = time.monotonic()
        demo.start_demo(*afternoon)
        demo.wait_for("The afternoon begins", 60)
        demo.wait_for("jobs submitted", 60)
        harness.wait_until(lambda: demo.process.poll() is not None or submitted(demo)[0] > submitted(demo)[1] * 2 // 5, 120,
                           "two fifths are submitted")
        before, of_all = submitted(demo)
        demo.kill_all()
        check(before < of_all, f"killed when {before} of {of_all} jobs were submitted")

        demo.start_demo(*afternoon, "--keep")
        # On a slow machine it was killed while those of the first moment were submitted.
        demo.wait_for("The afternoon (goes on|begins)", 60)
        demo.wait_for("Report: ", 300)
        check(f"{of_all:,} of {of_all:,} jobs complete" in demo.said, "it goes on, and all jobs complete", demo.said)
        page = (demo.data / "report" / "index.html").read_text()
        check("Allocation" in page and "Waits by team" in page and not re.search(r"(src|href|url\()=?.?https?:", page),
              "the report is one page that needs no other")
        jobs, pods = demo.items("/apis/batch/v1/jobs"), demo.items("/api/v1/pods")
        check(len(jobs) == of_all and all(complete(job) for job in jobs),
              f"{of_all} jobs are there, each complete", f"{len(jobs)} jobs")
        wanted = {(job["metadata"]["namespace"], job["metadata"]["name"]): job["spec"]["completions"] for job in jobs}
        ran = {}
        for pod in pods:
            owner = (pod["metadata"]["namespace"], pod["metadata"]["ownerReferences"][0]["name"])
            ran[owner] = ran.get(owner, 0) + (pod["status"]["phase"] == "Succeeded")
        check(ran == wanted, "each ran exactly once")
        teams = {job["metadata"]["namespace"] for job in jobs}
        check(teams <= {"research", "models", "product", "data"} and len(teams) > 1, f"of several teams: {sorted(teams)}")
        demo.kill_all()

        demo.start_demo()
        demo.wait_for("The afternoon is over", 60)
        demo.wait_for("Report: ", 60)
        demo.process.wait(timeout=20)
        check(demo.process.returncode == 0, "once more: it only reports")
        demo.kill()
        demo.start_demo("--nodes", "30")
        demo.process.wait(timeout=60)
        check(demo.process.returncode == 1, "another afternoon in its folder is refused")
        demo.kill()
        demo.start_demo("--fresh", "--nodes", "10", "--minutes", "0.05", "--seed", "3")
        demo.wait_for("The afternoon begins", 60)
        demo.wait_for("Report: ", 120)
        demo.kill_all()
        check(True, "--fresh begins another one")

        foreign = demo.folder / "foreign"
        foreign.mkdir()
        (foreign / "precious").write_text("x")
        reply = subprocess.run([demo.program, "demo", "--fresh", "--data", str(foreign)], capture_output=True, text=True)
        check(reply.returncode == 2 and [each.name for each in foreign.iterdir()] == ["precious"],
              "a folder of something else is left alone", reply.stderr)
        print(f"in {time.monotonic() - began:.0f} s")
    except BaseException:
        demo.print_logs()
        raise
    finally:
        demo.end()
    return 0


if __name__ == "__main__":
    harness.end_with(main)
