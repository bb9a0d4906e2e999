#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The runner can tell a pass from everything that might look like one.

Runs scripts that crash, hang, lie or fall silent in VMs, and expects each to be
reported for what it is.
"""
# vm: timeout=600

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIB = '. "$(dirname "$0")/../lib.sh"\n'

# name: (script, what the runner must say of it)
SCRIPTS = {
    "passes": (LIB + "ktap_plan 1; check works true; ktap_end", "ok"),
    "skips": (LIB + "skip_all 'no such device'", "skip"),
    "gives-no-reason": ("exit 4", "not ok"),
    "exits-zero": ("exit 0", "ok"),
    "fails-a-case": (LIB + "ktap_plan 1; check broken false; ktap_end", "not ok"),
    "fails-by-status": ("exit 3", "not ok"),
    "lies-about-status": ("echo 'not ok 1 broken'; exit 0", "not ok"),
    "has-no-verdict": (LIB + "ktap_plan 1; ok fine; exit 0", "not ok"),
    "runs-too-few": (LIB + "ktap_plan 2; ok fine; ktap_end", "not ok"),
    "cannot-clean-up": (LIB + "ktap_plan 1; defer false; ok fine; ktap_end", "not ok"),
    "warns-in-the-log": ("echo 'WARNING: CPU: 0 PID: 1 at x.c:1' >/dev/kmsg; exit 0", "not ok"),
    "crashes": ("echo 'ok 1 fine'; echo c >/proc/sysrq-trigger; sleep 60", "not ok"),
    "hangs": ("# vm: timeout=3\necho 'ok 1 fine'; while :; do :; done", "not ok"),
    "does-not-fit": ("# vm: mem=320M\nexit 0", "not ok"),
    "powers-off": ("echo 'ok 1 fine'; poweroff -f; sleep 60", "not ok"),
    "prints-a-verdict": ("printf 'X\\0\\0\\0\\1\\0\\0\\0\\4\\0\\0\\0\\0\\0\\0\\0'; exit 1", "not ok"),
    "passes-after-all-that": (LIB + "ktap_plan 1; check works true; ktap_end", "ok"),
}


def reported(output, name):
    """What the runner said of a script."""
    match = re.search(rf"^(ok|not ok) \d+ \S*/{name}( # SKIP)?", output, re.M)
    if not match:
        return "nothing"
    return "skip" if match[2] else match[1]


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for name, (script, _) in SCRIPTS.items():
            pathlib.Path(tmp, name + ".sh").write_text(script + "\n")
        run = subprocess.run(
            [sys.executable, "-B", HERE.parent / "run", "--no-build", "--kver",
             os.environ.get("KVER") or "6.12", *sorted(pathlib.Path(tmp).iterdir())],
            capture_output=True, text=True, errors="replace")
    print(f"KTAP version 1\n1..{len(SCRIPTS) + 1}")
    failed = 0
    for nr, (name, (_, wanted)) in enumerate(SCRIPTS.items(), 1):
        found = reported(run.stdout, name)
        if found != wanted:
            failed += 1
            print(f"# reported as '{found}', is '{wanted}'")
        print(f"{'ok' if found == wanted else 'not ok'} {nr} {name}")
    last = run.stdout.splitlines()[-1] if run.stdout else ""
    total_right = run.returncode == 1 and re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", last)
    print(f"{'ok' if total_right else 'not ok'} {len(SCRIPTS) + 1} totals")
    if failed or not total_right:
        print("\n".join("# " + line for line in (run.stdout + run.stderr).splitlines()))
    return 1 if failed or not total_right else 0


sys.exit(main())
