#!/usr/bin/env python3
"""Planted faults: each must be reported at its line, its clean twin must not be blamed, under three schedules.

    faults.py TF_RUN SCRATCH [--match TEXT] [--table]

A file of this folder is a pair of PTX texts with a line of five dashes between them: the fault, then its clean twin, which
may do the same thing right. Its name begins with the checker. Comments steer the test:

    // what: …                               one line about the fault, for the table
    // run: ARGUMENTS                        of tf-run, for both
    // expected-report {{REGEX}}             on the line that a report must name; the regex is searched for in
                                             "checker: kind: text"; two of them on one line ask for two reports

Every report must be expected and every expectation must be met. A report that only some schedules can have (which of two
racing accesses comes first) is expected on both lines as `expected-either`: one of them must be there.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

SEEDS = (0, 1, 7)
AT_LEAST = 10
CHECKERS = ("mem", "init", "race", "sync", "hang")
EXPECTED = re.compile(r"expected-(report|either) \{\{(.*?)\}\}")
REPORT = re.compile(r"^(note: )?((\w+): [^\n]*)\n  at PTX line (\d+)", re.M)


def halves(path):
    """(text, expectations) of the fault and of the clean twin; lines keep their numbers."""
    text = path.read_text()
    fault, clean = text.split("\n// -----\n")
    pad = "\n" * (fault.count("\n") + 2)
    for part in (fault + "\n", pad + clean):
        wanted = [(number, kind, pattern) for number, line in enumerate(part.split("\n"), 1)
                  for kind, pattern in EXPECTED.findall(line)]
        yield part, wanted


def header(path, key):
    found = re.search(rf"^// {key}: (.*)$", path.read_text(), re.M)
    return found.group(1).strip() if found else ""


def wrong_reports(reports, wanted):
    """What differs between reports [(line, text)] and expectations, as a list of sentences."""
    wrong, met = [], set()
    for line, text in reports:
        hits = [w for w in wanted if w[0] == line and re.search(w[2], text)]
        met.update(hits)
        if not hits:
            wrong.append(f"unexpected report at line {line}: {text}")
    wrong += [f"no report at line {w[0]} like '{w[2]}'" for w in wanted if w[1] == "report" and w not in met]
    either = [w for w in wanted if w[1] == "either"]
    if either and not met.intersection(either):
        wrong.append(f"none of the reports at lines {sorted({w[0] for w in either})}")
    return wrong


def run(tool, scratch, path, number, part, wanted, options):
    checker = path.name.split("-")[0]
    ptx = scratch / f"{path.stem}-{number}.ptx"
    ptx.write_text(part)
    command = [tool, "--check=all", "--budget=3000000", *options, *header(path, "run").split(), str(ptx)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    reports = [(int(line), text) for note, text, _, line in REPORT.findall(done.stderr) if not note]
    wrong = wrong_reports(reports, wanted)
    if wanted and not any(text.startswith(checker) for _, text in reports):
        wrong.append(f"no report of the {checker} checker")
    if done.returncode != (1 if wanted else 0):
        wrong.append(f"exit status {done.returncode}")
    return [f"{path.name} ({'fault' if number == 0 else 'clean'}) {' '.join(options)}: {w}" for w in wrong] + (
        [done.stderr] if wrong else [])


def check(tool, scratch, path):
    wrong = []
    for number, (part, wanted) in enumerate(halves(path)):
        if bool(wanted) != (number == 0):
            wrong.append(f"{path.name}: expectations belong in the first half, and there must be one")
        for seed in SEEDS:
            wrong += run(tool, scratch, path, number, part, wanted, [f"--seed={seed}"] if seed else [])
        if number == 1:
            wrong += run(tool, scratch, path, number, part, wanted, ["--adversarial", "--seed=3"])
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tf_run")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--match", default="")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    paths = sorted(p for p in pathlib.Path(__file__).parent.glob("*.ptx") if options.match in p.name)
    if options.table:
        print("\n".join(f"{p.stem:40} {header(p, 'what')}" for p in paths))
        return
    options.scratch.mkdir(parents=True, exist_ok=True)
    count = {c: sum(p.name.startswith(c + "-") for p in paths) for c in CHECKERS}
    wrong = [f"{c}: {n} faults, at least {AT_LEAST} are wanted" for c, n in count.items() if n < AT_LEAST and not options.match]
    wrong += [f"{p.name}: no 'what'" for p in paths if not header(p, "what")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda p: check(options.tf_run, options.scratch, p), paths):
            wrong += found
    print("\n".join(wrong + [f"{len(paths)} pairs: {', '.join(f'{n} {c}' for c, n in count.items())}"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
