#!/usr/bin/env python3
"""Asks Berth's API server and a real kube-apiserver the same, and compares the replies.

    tests/e2e/replies_test.py [--berth PROGRAM] [--assets FOLDER] [--story NAME]

The real one is of KUBEBUILDER_ASSETS, else of build/kubernetes (tools/build_kube_apiserver.sh); without any the test is
skipped. What is asked stands in replies/stories_*.py, with the Kubernetes version that a request needs; which differences are
known and meant, in replies/known.py.
"""

import argparse
from pathlib import Path

import harness
from real_kubernetes import RealKubernetes, find_assets
from replies import stories_objects, stories_pods, stories_server
from replies.calls import Access
from replies.comparing import Normaliser, Report, as_version, disagreements, without_wording
from replies.known import OF_REAL
from replies.script import Run, callers_of

STORIES = [*stories_server.STORIES, *stories_objects.STORIES, *stories_pods.STORIES]
USERS = {"alice": "alice-token"}
TOKENS = 'alice-token,alice,alice,"team-a,dev"\n'


def compare(story, ours, theirs, version, report):
    """Tells a story to both, step by step."""
    runs = [(Run(story, callers), Normaliser(story.name.replace(" ", "-"))) for callers in (ours, theirs)]
    for step in story.steps:
        needs = step.since or story.since
        if version < as_version(needs):
            report.skip(f"needs Kubernetes {needs}")
            continue
        facts = [normaliser.facts(step, run.take(step)) for run, normaliser in runs]
        report.take(f"{story.name}: {step.name}", disagreements(*map(without_wording, facts)))


def main():
    parser = argparse.ArgumentParser(description="Compares the replies of Berth and of a real kube-apiserver.")
    parser.add_argument("--berth", help="the program to test")
    parser.add_argument("--assets", type=Path, help="folder of kube-apiserver and etcd")
    parser.add_argument("--story", default="", help="only stories whose name has this in it")
    options = parser.parse_args()
    assets = options.assets or find_assets()
    if not assets:
        print("skipped: no kube-apiserver to compare with; tools/build_kube_apiserver.sh builds one")
        return 77
    with harness.ControlPlane(harness.find_program(options.berth), "1xcpu", TOKENS) as plane, \
            RealKubernetes(assets) as real:
        version = real.version()
        report = Report(OF_REAL, version)
        host, port, certificate, key, authority = plane.credentials()
        ours = callers_of(Access(host, port, authority, certificate, key), USERS)
        theirs = callers_of(real.access(), USERS)
        for story in STORIES:
            if options.story in story.name:
                compare(story, ours, theirs, version, report)
        good = report.good(f"ours and kube-apiserver {version[0]}.{version[1]}", whole=not options.story)
    return 0 if good else 1


if __name__ == "__main__":
    harness.end_with(main)
