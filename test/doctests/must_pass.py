#!/usr/bin/env python3
"""Runs doctests.py over what passes on Spark, and compares with the list of what passed before.

Without other options than --remote it fails if an object of must_pass.txt fails, twice. --update adds what passes to the list, which only
grows, and writes docs/compatibility.md. All other options go to doctests.py, and then nothing is compared.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
page = here.parent.parent / "docs" / "compatibility.md"
listed = here / "must_pass.txt"


def run(args):
    return subprocess.run([sys.executable, str(here / "doctests.py"), "--baseline", str(here / "baseline.json"), *args]).returncode


def results(remote, args=()):
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "results.json")
        run(["--remote", remote, "--json", out, *args])
        with open(out) as f:
            return json.load(f)["results"]


def why(r, reasons, name):
    """What is known of a failure: a reason in reasons.json, or what the example met."""
    if name in reasons:
        return reasons[name]
    e = r.get("error") or {}
    text = (e.get("message") or "").strip().splitlines()
    example = (e.get("example") or "").strip().splitlines()
    text = text[0] if text else "another result than printed: `%s`" % (example[0] if example else name)
    text = re.sub(r"/tmp/\S+", "DIR", text)  # another one each time
    return text.replace("|", "\\|")[:160]


def write_page(got, baseline, reasons):
    modules, failing = {}, []
    for name, r in sorted(got.items()):
        if r["status"] == "skip":
            continue
        python = baseline[name].get("needs_python_worker")
        m = modules.setdefault(r["module"], {"objects": 0, "passed": 0, "python": 0})
        if python:
            m["python"] += 1
            continue
        m["objects"] += 1
        if r["status"] == "pass":
            m["passed"] += 1
        else:
            failing.append((name, why(r, reasons, name)))
    total = {k: sum(m[k] for m in modules.values()) for k in ("objects", "passed", "python")}
    lines = [
        "# Compatibility",
        "",
        "Every object that PySpark 4.2 documents with an example, run against `millrace serve`: how many examples give what is printed. Only those",
        "count that pass on Apache Spark 4.2.0 and ask the server for something. Those that need a Python worker, which millrace does not have, are",
        "counted apart. Made by `make compatibility`; what is compared and how is in [test/doctests](../test/doctests/README.md).",
        "",
        "| module | objects | pass | rate | need a Python worker |",
        "|---|---|---|---|---|",
    ]
    for name, m in list(modules.items()) + [("**all**", total)]:
        rate = "%.1f %%" % (100 * m["passed"] / m["objects"]) if m["objects"] else "–"
        lines.append("| %s | %d | %d | %s | %d |" % (name, m["objects"], m["passed"], rate, m["python"]))
    lines += ["", "## What fails, and why", "", "| object | why |", "|---|---|"]
    lines += ["| `%s` | %s |" % f for f in failing]
    page.write_text("\n".join(lines) + "\n")


def main():
    args = sys.argv[1:]
    remote = args[args.index("--remote") + 1]
    rest = [a for a in args if a not in ("--remote", remote, "--update")]
    if rest:
        sys.exit(run(["--remote", remote, *rest]))
    baseline = json.loads((here / "baseline.json").read_text())["objects"]
    reasons = json.loads((here / "reasons.json").read_text())
    must = [n for n in listed.read_text().split() if n not in reasons]
    got = results(remote)
    passed = {n for n, r in got.items() if r["status"] == "pass"}
    lost = [n for n in must if n not in passed]
    for name in lost:  # a busy machine may have been too slow
        again = results(remote, ["-k", name]).get(name)
        if again and again["status"] == "pass":
            passed.add(name)
        else:
            print("must pass, but does not: %s: %s" % (name, why(got[name], {}, name)))
    if "--update" in args:
        listed.write_text("\n".join(sorted((set(must) | passed) - set(reasons))) + "\n")
        write_page(got, baseline, reasons)
    sys.exit(any(n not in passed for n in must))


if __name__ == "__main__":
    main()
