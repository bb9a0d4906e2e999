#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The agent for clusters, ocf:rtrs:rnbd: two servers of one disk, and addresses that move with the export.

Debian's ocf-tester finds nothing wrong with it, in either role. Then its actions are called as a cluster does: an
export moves from one server to the other, and back when that one loses power, while a client writes and verifies; and
the map moves to another node, which waits until the first one has let go. pacemaker.py beside this
has Pacemaker do so.
"""
# vm: timeout=600

import io
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import hosts
import initrd
import vmlib

NETWORKS = 2
HERE = "usr/lib/ocf/resource.d/rtrs/rnbd"
AGENT = f"/{HERE}"
# What the agent and ocf-tester need of the package resource-agents.
OCF = ("usr/lib/ocf/lib/heartbeat", "usr/share/resource-agents/ra-api-1.dtd", "usr/sbin/ocf-tester")
SUCCESS, ERR_INSTALLED, ERR_CONFIGURED, NOT_RUNNING = 0, 5, 6, 7

EXPORT = {"role": "export", "name": "data", "device": "/dev/vda", "clients": "any"}
MAP = {"role": "map", "name": "disk", "server": "10.1.0.100", "export": "data", "session": "cluster",
       "path": "10.1.0.100 10.2.0.100", "no_path_timeout": "-1"}
DISK = "/dev/rnbd/disk"

# An address that moves: told to those who know the node that had it.
TAKE = """
for n in 1 2; do
	dev=eth$((n - 1))
	ip addr add 10.$n.0.100/24 dev $dev && arping -q -U -c 2 -I $dev 10.$n.0.100
	wait_for 20 grep -qi "0a0$n:0064" /sys/class/infiniband/rxe$n/ports/1/gids/* || exit 1
done
"""
DROP = "for n in 1 2; do ip addr del 10.$n.0.100/24 dev eth$((n - 1)); done"


def resource_agents():
    """Directory with Debian's package, unpacked and kept in the cache."""
    made = initrd.CACHE / "resource-agents"
    if not made.exists():
        initrd.CACHE.mkdir(parents=True, exist_ok=True)
        stage = pathlib.Path(tempfile.mkdtemp(dir=initrd.CACHE, prefix=".agents."))
        get = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", "resource-agents"]
        if subprocess.run(get, cwd=stage, stdout=sys.stderr, check=False).returncode:
            subprocess.run(["apt-get", "-qq", "update"], stdout=sys.stderr, check=True)
            subprocess.run(get, cwd=stage, stdout=sys.stderr, check=True)
        (deb,) = stage.glob("*.deb")
        subprocess.run(["dpkg", "-x", deb, stage / "root"], check=True)
        try:
            (stage / "root").rename(made)
        except OSError:         # somebody else was faster
            pass
        shutil.rmtree(stage)
    return made


def archive():
    """What every node gets, as tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in OCF:
            tar.add(resource_agents() / name, name)
        tar.add(vmlib.TOP / "tools/rnbd/ocf/rnbd", HERE)
    return out.getvalue()


def parameters(params):
    return " ".join(f"OCF_RESKEY_{name}='{value}'" for name, value in params.items())


def command(action, params):
    return f"OCF_ROOT=/usr/lib/ocf OCF_RESOURCE_INSTANCE=test {parameters(params)} {AGENT} {action}"


def call(host, action, params):
    """Result of an action: code and output."""
    return host.vm.run(f"OCF_RESKEY_CRM_meta_timeout=60000 {command(action, params)} 2>&1", 90)


def gives(ktap, what, host, action, params, wanted):
    """One case: an action has this result."""
    result = call(host, action, params)
    return ktap.check(what, result.code == wanted, f"{action} gave {result.code}, wanted {wanted}: {result.out}")


def tester(ktap, what, host, params):
    """One case: ocf-tester is content."""
    options = " ".join(f"-o {name}='{value}'" for name, value in params.items())
    result = host.vm.run(f"ocf-tester -n test {options} {AGENT} 2>&1", 300)
    ktap.check(what, result.code == 0 and "passed all tests" in result.out and "rc=" not in result.out, result.out)


def take(host):
    host.sh(TAKE, 60)


def written(client):
    """Bytes of its disk."""
    return int(client.sh(f"cat /sys/block/$(basename $(readlink {DISK}))/stat").split()[6])


def goes_on(ktap, what, client, load):
    """One case: I/O that has waited is done, and more."""
    before = written(client)
    ktap.within(what, 60, lambda: load.running() and written(client) > before + 2000)


def wrong(ktap, host):
    """What is told to the cluster if it cannot be: 6 cases."""
    gives(ktap, "no role", host, "validate-all", EXPORT | {"role": "both"}, ERR_CONFIGURED)
    gives(ktap, "an export without a device", host, "start", EXPORT | {"device": ""}, ERR_CONFIGURED)
    gives(ktap, "a name that is a path", host, "start", EXPORT | {"name": "../data"}, ERR_CONFIGURED)
    gives(ktap, "access that is none", host, "start", EXPORT | {"access": "rx"}, ERR_CONFIGURED)
    gives(ktap, "a device that is elsewhere", host, "start", EXPORT | {"device": "/dev/vdx"}, ERR_INSTALLED)
    left = host.sh("ls /run/rnbd/exports.d")
    ktap.equal("and no file is left of it", left, "")


def map_moves(ktap, server, one, other):
    """To a node that asks for it while the first one has it: 6 cases."""
    sums = one.sha256(DISK, 8)
    asked = other.vm.spawn(f"OCF_RESKEY_CRM_meta_timeout=60000 {command('start', MAP | {'session': 'other'})} 2>&1")
    refused = "dmesg | grep -q 'session other: OPEN of .* refused'"
    ktap.check("another node asks for it, and has to wait",
               hosts.wait(lambda: server.works(refused), 30) and asked.running())
    gives(ktap, "the first one lets go", one, "stop", MAP, SUCCESS)
    gives(ktap, "and does not have it", one, "monitor", MAP, NOT_RUNNING)
    result = asked.wait(60)
    ktap.check("then the other one has it", result.code == 0, result.out)
    ktap.equal("and what is on it", other.sha256(DISK, 8), sums)
    gives(ktap, "it lets go too", other, "stop", MAP | {"session": "other"}, SUCCESS)


def body(ktap, rig):
    rig.system.tools += ["xmllint"]
    nets = [rig.network(3) for _ in range(NETWORKS)]
    image = rig.dir / "shared.img"
    with open(image, "wb") as file:
        file.truncate(64 * hosts.MB)
    alpha, beta = [hosts.Server(rig, name, number, nets, mem="512M", drives=[f"{image},file.locking=off"])
                   for number, name in enumerate(("alpha", "beta"), 1)]
    gamma = hosts.Client(rig, "gamma", 3, nets, mem="512M")
    files = archive()
    for host in [done.result() for done in [hosts.booters.submit(host.up) for host in (alpha, beta, gamma)]]:
        host.vm.run("tar -x -C /", stdin=files, check=True)
        host.sh("echo nobody:x:65534:65534:nobody:/:/bin/sh >>/etc/passwd; modprobe rtrs-server sess_queue_depth=64")

    wrong(ktap, alpha)
    tester(ktap, "ocf-tester: an export", alpha, EXPORT)
    gives(ktap, "nothing is exported yet", alpha, "monitor", EXPORT, NOT_RUNNING)
    gives(ktap, "an export", alpha, "start", EXPORT, SUCCESS)
    take(alpha)
    tester(ktap, "ocf-tester: a map", gamma, MAP)
    gives(ktap, "a map", gamma, "start", MAP, SUCCESS)
    load = gamma.load(DISK, 120)
    goes_on(ktap, "it is written", gamma, load)

    # As a cluster moves a group: the addresses first, then the export, then all of it elsewhere.
    alpha.sh(DROP)
    gives(ktap, "the export is stopped", alpha, "stop", EXPORT, SUCCESS)
    ktap.equal("nobody has its disk any more", alpha.sh("rnbd exports -H"), "")
    gives(ktap, "it starts on the other server", beta, "start", EXPORT, SUCCESS)
    take(beta)
    goes_on(ktap, "it is written there", gamma, load)
    gives(ktap, "the map has run all the time", gamma, "monitor", MAP, SUCCESS)

    beta.vm.kill()
    gives(ktap, "that server is dead: the first one has it again", alpha, "start", EXPORT, SUCCESS)
    take(alpha)
    goes_on(ktap, "it is written there again", gamma, load)
    result = load.wait(180)
    ktap.check("no I/O has failed, all data were right", result.code == 0, result.out)

    beta.up().sh("modprobe rtrs-server sess_queue_depth=64")
    beta.vm.run("tar -x -C /", stdin=files, check=True)
    map_moves(ktap, alpha, gamma, beta)
    gives(ktap, "the export is stopped at last", alpha, "stop", EXPORT, SUCCESS)
    gives(ktap, "and does not run", alpha, "monitor", EXPORT, NOT_RUNNING)


subprocess.run([vmlib.TOP / "tools/deps", "cluster-agent"], check=True)
sys.exit(hosts.test(28, body))
