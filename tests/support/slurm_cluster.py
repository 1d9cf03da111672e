"""A Slurm of two small pretended machines on this one, without systemd and without root's files.

    python tests/support/slurm_cluster.py start FOLDER     prints what to put into SLURM_CONF
    python tests/support/slurm_cluster.py stop FOLDER

Debian's packages are slurm-wlm and munge.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
NODES = ("node1", "node2")
STARTS_S = 30.0
CONF = """
ClusterName=pretended
SlurmctldHost=localhost
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=2
KillWait=2
UnkillableStepTimeout=60
ReturnToService=1
SlurmdTimeout=20
GresTypes=gpu
NodeName=node1 NodeHostname=localhost Port={ports[1]} CPUs=2 Gres=gpu:2
NodeName=node2 NodeHostname=localhost Port={ports[2]} CPUs=2 Gres=gpu:2
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
PartitionName=short Nodes=ALL MaxTime=1 State=UP
"""


class CannotStartError(Exception):
    """Why no Slurm starts here."""


def start(folder: Path) -> Path:
    """Start one; return its configuration file. Raises CannotStartError."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PLACES) is None]
    if missing:
        raise CannotStartError(f"{', '.join(missing)}: not installed (Debian: slurm-wlm, munge)")
    if "-N node" not in _output("slurmd", "-h"):
        raise CannotStartError("this slurmd was built to run once on a machine")
    conf = _written(folder)
    try:
        # By force: it dislikes folders that others may not enter, as those of tests are.
        _start("munged", "--force", f"--socket={folder}/munge.socket",
               f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
               f"--seed-file={folder}/munge.seed", f"--log-file={folder}/munged.log")
        _start("slurmctld", "-f", str(conf))
        for node in NODES:
            start_node(conf, node)
        _wait_for_nodes(conf)
    except CannotStartError:
        stop(folder)
        raise
    return conf


def start_node(conf: Path, node: str) -> None:
    """Start a node's daemon. Raises CannotStartError."""
    _start("slurmd", "-f", str(conf), "-N", node)


def stop(folder: Path) -> None:
    """Stop all that runs, the jobs first."""
    if (folder / "slurmctld.pid").exists():
        environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        subprocess.run(["scancel", "--full", "--partition=cpu"], env=environment, timeout=30,
                       capture_output=True)
        time.sleep(1)
    for name in (*NODES, "slurmctld", "munged"):
        kill(folder, name)
    until = time.monotonic() + STARTS_S
    while list(folder.glob("*.pid")) and time.monotonic() < until:
        time.sleep(0.1)


def kill(folder: Path, name: str, how: signal.Signals = signal.SIGTERM) -> None:
    """End a daemon by its name: node1, node2, slurmctld, munged."""
    with suppress(FileNotFoundError, ProcessLookupError, ValueError):
        os.kill(int((folder / f"{name}.pid").read_text()), how)


def _written(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    for name in ("state", *NODES):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    user = _output("id", "-un").strip()
    conf = folder / "slurm.conf"
    conf.write_text(CONF.format(folder=folder, user=user, ports=_free_ports(3)))
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n")
    return conf


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _wait_for_nodes(conf: Path) -> None:
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until:
        states = _output("sinfo", "--noheader", "--Node", "--format=%T", conf=conf).split()
        if states and set(states) == {"idle"}:
            return
        time.sleep(0.3)
    raise CannotStartError(f"its nodes do not come up: {' '.join(states) or 'no answer'}")


def _start(name: str, *arguments: str) -> None:
    done = subprocess.run([shutil.which(name, path=PLACES) or name, *arguments],
                          capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise CannotStartError(f"{name} does not start: {' '.join(done.stderr.split())[:300]}")


def _output(name: str, *arguments: str, conf: Path | None = None) -> str:
    environment = os.environ | ({"SLURM_CONF": str(conf)} if conf else {})
    done = subprocess.run([shutil.which(name, path=PLACES) or name, *arguments], env=environment,
                          capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


if __name__ == "__main__":
    verb, place = sys.argv[1], Path(sys.argv[2]).resolve()
    if verb == "start":
        try:
            print(start(place))
        except CannotStartError as problem:
            sys.exit(f"no Slurm here: {problem}")
    else:
        stop(place)
