"""Commands that are interrupted or terminated, or whose standard streams are closed, full or broken."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from l1lsmi._processes import sigint_blocked

COMMAND = [sys.executable, "-m", "l1lsmi"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("commands")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] > 0, "u", "v")
    frame.to_csv(path / "few.csv", index=False)
    noise = pd.DataFrame(rng.normal(size=(1500, 150)), columns=[f"c{j}" for j in range(150)])
    noise["y"] = rng.normal(size=1500)
    noise.to_csv(path / "noise.csv", index=False)
    selection = {"format": "l1lsmi-selection", "version": 1, "columns": ["a", "c"]}
    (path / "s.json").write_text(json.dumps(selection))
    return path


# -- interruptions ----------------------------------------------------------------------------


def start(folder, *args):
    """A command in its own process group that accepts SIGINT even where the tests ignore it."""
    return subprocess.Popen(
        [*COMMAND, *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def members(session):
    """Process ids of a session: the command and all processes that it has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(rest[3]) == session and rest[0] != "Z":
            found.append(int(path.parent.name))
    return found


def loaded(pid, what):
    """Whether a process has loaded a library."""
    try:
        return what in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


LINUX = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")


@LINUX
def test_control_c_while_libraries_are_loaded(folder):
    process = start(folder, "select", "few.csv", "-t", "y", "--json")
    wait_for(lambda: loaded(process.pid, "numpy"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err == "Error: Interrupted before there was a result.\n"
    assert json.loads(out)["kind"] == "interrupted"


@LINUX
def test_control_c_waits_until_a_process_is_started():
    done = threading.Event()
    other = threading.Thread(target=done.wait)  # it gets the signal, which the main thread blocks
    other.start()
    steps = []
    try:
        with sigint_blocked():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            steps.append("started")
    except KeyboardInterrupt:
        steps.append("interrupted")
    finally:
        done.set()
        other.join()
    assert steps == ["started", "interrupted"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def wait_for_subprocess(process):
    """Wait for the subprocess that computes held-out errors for a report."""

    def is_running():
        others = [pid for pid in members(process.pid) if pid != process.pid and loaded(pid, "numpy")]
        # Before exec, a new process is a copy of the command.
        return any(b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in others)

    wait_for(is_running)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_running(folder, number):
    process = start(folder, "select", "noise.csv", "-t", "y", "-q", "--report", "r.html")
    wait_for_subprocess(process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err and "leaked" not in err
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    wait_for(lambda: not members(process.pid), 20)


#: A process that starts another, which holds the lock of the interpreter for ever, as HDF5 can.
PARENT = """
import sys, time
from l1lsmi._processes import start_python
process = start_python("endless")
print(process.stdout.readline().decode(), flush=True)
time.sleep(100)
"""
ENDLESS = """
import ctypes, os
from l1lsmi._processes import exit_with_parent

def serve():
    exit_with_parent()
    print(os.getpid(), flush=True)
    ctypes.PyDLL(None).pause()
"""


@LINUX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_in_c_code_ends_with_its_parent(tmp_path, number):
    (tmp_path / "endless.py").write_text(ENDLESS)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    with parent:
        pid = int(parent.stdout.readline())
        parent.send_signal(number)
    try:
        wait_for(lambda: not loaded(pid, "python"), 5)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# -- streams ----------------------------------------------------------------------------------

#: Runs each command in a fork, as importing the libraries takes most of the time of a command.
DRIVER = """
import json, os, sys, tempfile
import l1lsmi._cli.app, l1lsmi.methods, pyarrow, pyarrow.csv, pyarrow.compute
from l1lsmi._cli import main

def one(args, streams):
    files = {number: tempfile.TemporaryFile() for number in (1, 2)}
    pid = os.fork()
    if pid == 0:
        for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
            how = streams.get(str(number), "")
            if how == "closed":
                os.close(number)
                setattr(sys, name, None)
                continue
            if how == "full":
                os.dup2(os.open("/dev/full", os.O_WRONLY), number)
            elif how == "broken":
                ours, theirs = os.pipe()
                os.close(ours)
                os.dup2(theirs, number)
            elif number:
                os.dup2(files[number].fileno(), number)
            coding = "cp1252" if how == "cp1252" else "utf-8"
            setattr(sys, name, open(number, mode, encoding=coding, closefd=False))
        try:
            main(args)
        except SystemExit as end:
            sys.stdout and sys.stdout.flush()
            os._exit(end.code)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    outputs = []
    for file in files.values():
        file.seek(0)
        outputs.append(file.read().decode(errors="replace"))
    return [code, *outputs]

print(json.dumps([one(*case) for case in json.loads(sys.argv[1])]))
"""

SELECT = ["select", "few.csv", "-t", "y", "-k", "1", "-m", "pearson"]
APPLY = ["apply", "s.json", "few.csv"]
MISSING = ["select", "no.csv", "-t", "y"]
LETTERS = ["select", "letters.csv", "-t", "y", "-k", "2", "-m", "pearson", "-q"]
NO_OUTPUT = "Error: Standard output cannot be written"
#: Arguments, states of streams, exit code, and expected standard output and error.
CASES = [
    (SELECT, {"2": "closed"}, 0, "selected 1 of 3 features", ""),
    (MISSING, {"2": "closed"}, 1, "", ""),
    (SELECT, {"2": "full"}, 0, "selected 1 of 3 features", ""),
    (["select", "-", "-t", "y"], {"0": "closed"}, 1, "", "Error: standard input is empty"),
    ([*SELECT, "-q"], {"1": "closed"}, 1, "", NO_OUTPUT),
    (APPLY, {"1": "closed"}, 1, "", NO_OUTPUT),
    (APPLY, {"1": "full"}, 1, "", f"{NO_OUTPUT}: No space"),
    ([*SELECT, "--json"], {"1": "full"}, 1, "", f"{NO_OUTPUT}: No space"),
    ([*MISSING, "--json"], {"1": "full"}, 1, "", "Error: no.csv does not exist"),
    ([*MISSING, "--json"], {"1": "broken"}, 1, "", "Error: no.csv does not exist"),
    (APPLY, {"1": "broken"}, 1, "", ""),
    ([*SELECT, "--json"], {"1": "broken"}, 1, "", ""),
    (LETTERS, {"1": "cp1252"}, 0, r"\u65e5\u672c", ""),
]


@LINUX
def test_streams_that_are_closed_full_broken_or_without_letters(folder):
    (folder / "letters.csv").write_text("日本,β,y\n1,2,u\n2,3,v\n3,5,u\n4,4,v\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps([case[:2] for case in CASES])],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    for (args, streams, *expected), found in zip(CASES, json.loads(run.stdout), strict=True):
        code, out, err = found
        case = (args, streams, found)
        assert code == expected[0] and "Traceback" not in err, case
        assert expected[1] in out and bool(expected[1]) == bool(out), case
        assert err.startswith(expected[2]) and err.count("\n") == bool(expected[2]), case
