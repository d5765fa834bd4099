#!/usr/bin/env python3
"""Runs conform.py and holds its results against must_pass.txt. Use run.sh, which brings the server and the Python."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = ""  # "" for cases, "delta" for delta_cases
HEAD = """\
# Conformance cases that pass and must go on passing, one module.case a line, sorted.
# The list only grows: run.sh --update adds to it. A line that has to go needs a reason in its commit.
"""


def listing():
    return os.path.join(HERE, "must_pass-%s.txt" % SUITE if SUITE else "must_pass.txt")


def suite():
    """Options of conform.py for the cases of the suite."""
    if not SUITE:
        return ["--differences", os.path.join(HERE, "differences.json")]
    return ["--cases", os.path.join(HERE, SUITE + "_cases"), "--goldens", os.path.join(HERE, SUITE + "_goldens"),
            "--differences", os.path.join(HERE, "differences-%s.json" % SUITE)]


def read_list():
    with open(listing(), encoding="utf-8") as f:
        return [line for line in (raw.strip() for raw in f) if line and not line.startswith("#")]


def write_list(names):
    with open(listing(), "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(n + "\n" for n in sorted(names)))


def exactly(name):
    """A -k pattern for this case alone: conform.py also takes names that merely contain the pattern."""
    return "%s[%s]" % (name[:-1], name[-1])


def conform(remote, options, only=None):
    """module.case -> status, of one run over all cases or only some."""
    for name in only or []:
        options = options + ["-k", exactly(name)]
    fd, out = tempfile.mkstemp(prefix="conform-", suffix=".json")
    os.close(fd)
    try:
        subprocess.run([sys.executable, os.path.join(HERE, "conform.py"), "--remote", remote, "--json", out] + suite() + options)
        with open(out, encoding="utf-8") as f:
            text = f.read()
    finally:
        os.remove(out)
    if not text:
        sys.exit("conform.py left no results")
    return {"%s.%s" % (c["module"], name): c["status"] for name, c in json.loads(text)["cases"].items()}


def print_families(status, listed):
    """A line per family: passed of those that ran, and how many must."""
    families = sorted({name.split(".")[0] for name in status})
    for f in families:
        of = [s for n, s in status.items() if n.startswith(f + ".")]
        ran = sum(s != "skipped" for s in of)
        must = sum(n.startswith(f + ".") for n in listed)
        print("%-22s %3d/%-3d  listed %d%s" % (f, of.count("passed"), ran, must,
                                              "  skipped %d" % (len(of) - ran) if ran < len(of) else ""))


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--remote", default=os.environ.get("REMOTE"), help="the server (default: $REMOTE)")
    ap.add_argument("--listed", action="store_true", help="only the cases of must_pass.txt")
    ap.add_argument("--update", action="store_true", help="add cases that passed twice to must_pass.txt")
    ap.add_argument("--suite", default="", help="the cases of SUITE_cases (delta), with the list must_pass-SUITE.txt")
    args, options = ap.parse_known_args()
    global SUITE
    SUITE = args.suite
    if not args.remote:
        ap.error("--remote or $REMOTE is required")
    if not any(o.startswith("-j") for o in options):
        options += ["-j", "2"]
    listed = read_list()
    if args.listed and not listed:
        sys.exit("must_pass.txt is empty")

    status = conform(args.remote, options, listed if args.listed else None)
    narrowed = args.listed or any(o.startswith("-k") for o in options)
    broken = [n for n in listed if status.get(n) != "passed" and (n in status or not narrowed or args.listed)]
    fresh = sorted(n for n, s in status.items() if s == "passed" and n not in listed)
    if args.update and fresh:
        again = conform(args.remote, [o for o in options if o != "-v"], fresh)
        shaky = [n for n in fresh if again.get(n) != "passed"]
        for n in shaky:
            print("not added, it failed the second time: %s" % n)
        fresh = [n for n in fresh if n not in shaky]
        write_list(listed + fresh)
        listed += fresh

    print_families(status, listed)
    for n in fresh:
        print(("added to must_pass.txt: %s" if args.update else "passes and is not listed (--update): %s") % n)
    for n in broken:
        print("LISTED CASE FAILS: %s (%s)" % (n, status.get(n, "no such case")))
    print("must pass: %d listed, %d of them failed" % (len(listed), len(broken)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
