# SPDX-License-Identifier: GPL-2.0-only
"""Test VMs on plain QEMU: boot, command, cut off, kill, judge.

    with vmlib.Rig("6.12") as rig:
        left, right = rig.network(), rig.network()
        server = rig.vm("server", nets=[left, right], drives=["disk.img"])
        client = rig.vm("client", nets=[left, right])
        server.run("modprobe rnbd-server", check=True)
        left.cut()
        ...
        rig.check()

Every QEMU is a child, known by pid, that dies with this process (parent death
signal), is killed by Rig.close(), and every wait has an end. Commands travel
over a virtio port of their own; the console only ever goes to a file, which is
read for kernel splats.
"""

import atexit
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import initrd
from standstill import clock, keeper

# Of a user on Debian it does not have the places of mke2fs, e2fsck, debugfs, depmod and debootstrap.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
QEMU = "qemu-system-x86_64"
BOOT_TIMEOUT = 120

# What no test may leave in the kernel log.
SPLAT = re.compile("|".join([
    r"\bBUG\b", r"WARNING:", r"\bOops\b", r"general protection", r"KASAN:",
    r"KCSAN:", r"UBSAN:", r"possible (circular|recursive|irq|deadlock|unsafe)",
    r"inconsistent lock state", r"suspicious RCU usage",
    r"blocked for more than", r"\brcu\w*:.* stall", r"refcount_t:",
    r"scheduling while atomic", r"list_(add|del) corruption",
    r"[Uu]nable to handle", r"Call Trace:", r"Kernel panic",
    r"(soft|hard) (lockup|LOCKUP)", r"kmemleak: .*new suspected",
    r"Bad page state", r"cannot create duplicate filename",
    r"tried to (init|add) an (initialized|uninitialized)",
    r"is not initialized, yet kobject", r"Slab corruption",
    r"Objects remaining in", r"[Ss]till has objects",
    r"DMA-API: .*(device driver|mapping|cacheline|out of memory|error)",
    r"ODEBUG: (?!selftest passed|\d+ of \d+ active objects replaced)",
    r"trying to register non-static key", r"kmemleak: .*(disabled|[Cc]annot)",
]))

# A data race as KCSAN tells it: both accesses, each with its stack. One in code that is not
# ours is not ours to mend.
RACE = re.compile(r"BUG: KCSAN: ")
RACE_END = re.compile(r"={60}")
RACE_ACCESS = re.compile(r" to 0x\w+ of \d+ bytes by ")
RACE_FRAMES = 3
OURS = re.compile(r"\[(rtrs|rnbd)_\w+\]")
# lib/sbitmap.c of 6.12 reads the word of freed bits without a mark, once to see whether there are any, while
# others set bits of it; and who frees one does so inline, in code that looks like ours.
NOT_OURS = re.compile(r"BUG: KCSAN: data-race in rtrs_clt_put_permit \[rtrs_client\] / sbitmap_find_bit$")

# What the allocator says, with a stack, of an allocation that a test had fail: not a complaint.
INJECTED = re.compile(r"FAULT_INJECTION: forcing a failure")
INJECTED_LINES = 5
REFUSED = re.compile(r"vmalloc error: size|page allocation failure:")

BOOT_TRIES = 3

# TCG on a busy host starves virtual CPUs for tens of seconds: stalls are only
# reported, and counted as failures, past what starvation explains. A thing that
# hangs for good still trips them, or the test's own time limit.
#
# What TCG has translated it finds again at the same virtual address only: with programs and
# libraries at random ones (no norandmaps), starting a program took four times as long.
CMDLINE = ("console=ttyS0 quiet panic=-1 oops=panic nokaslr mitigations=off "
           "log_buf_len=4M rcupdate.rcu_cpu_stall_timeout=150 "
           "watchdog_thresh=60 random.trust_cpu=on no_timer_check "
           "net.ifnames=0 printk.devkmsg=on norandmaps "
           # For Vm.ask_why().
           "sysrq_always_enabled unknown_nmi_panic")

# A kernel that looks for bugs takes SLOWNESS times as long for everything, and so does every
# wait; it needs MEMORY times as much, for KASAN's shadow and quarantine and for what
# lockdep and kmemleak keep. The workqueue watchdog is as patient as the others.
DEBUG_SLOWNESS = 5
DEBUG_MEMORY = 2
DEBUG_CMDLINE = "workqueue.watchdog_thresh=120"

# What the kernel itself knows of leaks and wrong DMA mappings. A scan reports only
# what it finds unreferenced, unchanged since the scan before and older than 5 s:
# hence two, that far apart.
LEAKS = """
cd /sys/kernel/debug
echo scan >kmemleak && sleep 6 && echo scan >kmemleak || echo "no search for leaks"
head -n 200 kmemleak
errors=$(cat dma-api/error_count)
[ "$errors" = 0 ] || echo "DMA-API: $errors errors"
"""


class Error(Exception):
    """Something about the rig or a VM, told in one line."""


class VmLost(Error):
    """The VM crashed, exited or was killed while it was needed."""


class Timeout(Error):
    """A command or the boot took longer than it may."""


class Result:
    """Exit code and output (stdout and stderr as they came) of a command."""

    def __init__(self, code, out):
        self.code = code
        self.raw = bytes(out)

    @property
    def out(self):
        return self.raw.decode(errors="replace")


class Job:
    """A command that runs in a guest."""

    def __init__(self, vm, ident, cmd, sink):
        self.vm, self.id, self.cmd, self.sink = vm, ident, cmd, sink
        self.out = bytearray()
        self.code = None
        self.ended = threading.Event()

    def wait(self, timeout):
        timeout *= self.vm.system.slowness
        end = clock() + timeout
        while not self.ended.wait(min(1, max(0, end - clock()))):
            if clock() < end:
                continue
            self.kill()
            raise Timeout(f"{self.vm.name}: no end after {timeout} s: {self.cmd}")
        if self.code is None:
            raise VmLost(f"{self.vm.name}: VM lost during: {self.cmd}")
        return Result(self.code, self.out)

    def running(self):
        return not self.ended.is_set()

    def kill(self):
        self.vm.agent.send(b"K", self.id)


class Agent:
    """Host end of the guest agent's port (see agent.c)."""

    HEAD = struct.Struct("<III")

    def __init__(self, vm, sock):
        self.vm, self.sock = vm, sock
        self.jobs, self.last_id = {}, 0
        self.lock = threading.Lock()
        self.up = threading.Event()
        self.lost = threading.Event()
        threading.Thread(target=self._reader, daemon=True).start()

    def send(self, kind, ident, payload=b""):
        with self.lock:
            try:
                self.sock.sendall(self.HEAD.pack(kind[0], ident, len(payload)) + payload)
            except OSError:
                pass    # the reader sees the same loss and reports it

    def job(self, cmd, stdin=b"", sink=None):
        with self.lock:
            self.last_id += 1
            job = Job(self.vm, self.last_id, cmd, sink)
            self.jobs[job.id] = job
        self.send(b"R", job.id, cmd.encode() + b"\0" + stdin)
        if self.lost.is_set():
            job.ended.set()
        return job

    def _read(self, length):
        data = bytearray()
        while len(data) < length:
            piece = self.sock.recv(length - len(data))
            if not piece:
                raise OSError("end of stream")
            data += piece
        return bytes(data)

    def _reader(self):
        try:
            while True:
                kind, ident, length = self.HEAD.unpack(self._read(self.HEAD.size))
                self._frame(chr(kind), ident, self._read(length))
        except OSError:
            self.lost.set()
            for job in list(self.jobs.values()):
                job.ended.set()

    def _frame(self, kind, ident, data):
        job = self.jobs.get(ident)
        if kind == "H":
            self.up.set()
        elif job and kind == "O":
            job.out += data
            if job.sink:
                job.sink(data)
        elif job and kind == "X":
            job.code, = struct.unpack("<I", data)
            del self.jobs[ident]
            job.ended.set()


class Network:
    """A network between VMs: pairs of local datagram sockets, joined by a switch.

    Unlike UDP on the loopback these sockets lose nothing: who sends to a
    starved VM waits. What a VM that is gone would have received is thrown
    away, as on a cable that ends nowhere.
    """

    def __init__(self, rig, index, members):
        self.rig, self.index, self.members = rig, index, members
        self.slots = {}             # VM name -> slot; a restarted VM keeps its
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(1 + members)]
        self.control, *self.ends = [pair[0] for pair in pairs]
        self.control.settimeout(10)
        self._start_switch([pair[1] for pair in pairs])
        threading.Thread(target=self._drain, daemon=True).start()

    def _start_switch(self, ends):
        binary = self.rig.dir / f"switch{self.index}"
        subprocess.run(["gcc", "-O2", "-o", binary, HERE / "switch.c"], check=True)
        fds = [end.fileno() for end in ends]
        keeper.switches.append(self.rig.child([str(binary), *map(str, fds)], pass_fds=fds))
        for end in ends:
            end.close()

    def end(self, vm_name):
        """The socket of a VM and the number of its slot."""
        slot = self.slots.setdefault(vm_name, len(self.slots))
        if slot >= self.members:
            raise Error(f"network {self.index} was made for {self.members} VMs")
        return self.ends[slot], slot

    def _drain(self):
        while not self.rig.closed:
            used = {self.slots.get(vm.name) for vm in self.rig.vms if vm.alive()}
            idle = [end for slot, end in enumerate(self.ends) if slot not in used]
            if not idle:
                time.sleep(0.05)
                continue
            try:
                for end in select.select(idle, [], [], 0.05)[0]:
                    end.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass        # its VM has just started and was faster
            except (OSError, ValueError):
                return      # closed

    def close(self):
        for end in [self.control, *self.ends]:
            end.close()

    def _tell(self, command):
        self.control.send(command)
        if self.control.recv(1) != command:
            raise Error(f"network {self.index}: the switch does not answer")

    def cut(self):
        """Silent black hole: links stay up, nothing gets through, and no host is told."""
        self._tell(b"c")

    def heal(self):
        self._tell(b"h")

    def carrier(self, up, vm):
        """Take the carrier from, or give it back to, one VM's adapter."""
        vm.qmp("set_link", name=f"nic{vm.nets.index(self)}", up=up)


def dgram(ident, end):
    return f"dgram,id={ident},local.type=fd,local.str={end.fileno()}"


class Vm:
    """One VM; made by Rig.vm(). A VM that went away can be started again."""

    def __init__(self, rig, name, smp, mem, drives, nets, append, interactive, system, accel,
                 turns=False):
        self.rig, self.name, self.smp, self.mem = rig, name, smp, mem
        self.system, self.accel, self.turns = system, accel, turns
        self.drives, self.nets, self.append = drives, nets, append
        self.interactive = interactive
        self.qemu = []              # more arguments for it
        self.console = rig.dir / f"{name}.console"
        self.console.touch()
        self.judged = 0             # console bytes that were scanned already
        self.log = []               # what dmesg said last
        self.ended = True           # not running, and meant not to
        self.proc = self.agent = None
        self.qmp_lock = threading.RLock()

    def _args(self):
        args = [QEMU, "-nodefaults", "-no-reboot", "-display", "none", "-smp", str(self.smp),
                "-m", f"{int(self.mem.removesuffix('M')) * self.system.memory}M"]
        args += self.system.boot_args(f"rtrs.host={self.name} {self.append}")
        args += accel_args(self.accel, self.turns) + self.qemu
        if self.interactive:
            args += ["-chardev", f"stdio,id=con,mux=on,signal=off,logfile={self.console},logappend=on",
                     "-serial", "chardev:con", "-mon", "con"]
        else:
            args += ["-chardev", f"file,id=con,path={self.console},append=on",
                     "-serial", "chardev:con"]
        for index, drive in enumerate(self.drives):
            args += ["-drive", f"file={drive},if=none,id=drive{index},format=raw,"
                               "cache=writeback,discard=unmap,detect-zeroes=off",
                     "-device", f"virtio-blk-pci,drive=drive{index},serial=disk{index}"]
        for index, net in enumerate(self.nets):
            end, slot = net.end(self.name)
            args += ["-netdev", dgram(f"net{index}", end), "-device",
                     f"virtio-net-pci,id=nic{index},netdev=net{index},romfile=,"
                     f"mac=52:54:00:00:{net.index:02x}:{slot + 1:02x}"]
        return args

    def _pinned(self):
        """What keeps this VM on one processor of the host, if it has to be there.

        QEMU before 8.1 leaves out the memory barriers of a guest with one CPU, or whose CPUs take turns. While that runs beside
        the thread of its devices, each can miss what the other has just said, and an adapter sends
        nothing any more. On one processor both see all that the other has done.
        """
        if self.accel != "tcg" or (self.smp > 1 and not self.turns) or not self.nets:
            return []
        cpus = sorted(os.sched_getaffinity(0))
        return ["taskset", "-c", str(cpus[self.rig.vms.index(self) % len(cpus)])]

    def start(self, timeout=BOOT_TIMEOUT):
        """Boot and wait until the guest takes commands.

        QEMU's multi-threaded emulation sometimes kills a kernel that patches
        its own code (jump labels) while another CPU runs it: seen once in five
        boots of 6.12 on a busy host, before any module of ours was loaded. A
        kernel that dies before the guest is up is therefore booted again, and
        this is said; what happens later is never repeated.
        """
        for left in reversed(range(BOOT_TRIES)):
            try:
                return self._boot(timeout)
            except VmLost as error:
                if not left:
                    raise
                print(f"# {error}; booting again", file=sys.stderr, flush=True)
                self.judged = self.console.stat().st_size

    def launch(self):
        """Start QEMU, and wait for nothing."""
        agent, agent_fd = socket.socketpair()
        qmp, qmp_fd = socket.socketpair()
        args = self._args() + [
            "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,fd={agent_fd.fileno()}",
            "-device", "virtserialport,chardev=agent,name=agent,nr=1",
            "-chardev", f"socket,id=qmp,fd={qmp_fd.fileno()}", "-mon", "chardev=qmp,mode=control"]
        self.ended = False
        self.proc = self.rig.child(
            self._pinned() + args, pass_fds=[agent_fd.fileno(), qmp_fd.fileno(),
                            *(net.end(self.name)[0].fileno() for net in self.nets)],
            stdin=None if self.interactive else subprocess.DEVNULL,
            stderr=open(self.console, "ab"))
        agent_fd.close()
        qmp_fd.close()
        self.agent, self.qmp_file = Agent(self, agent), qmp.makefile("rw")

    def _boot(self, timeout):
        self.launch()
        timeout *= self.system.slowness
        end = clock() + timeout
        while not self.agent.up.wait(0.1):
            if self.agent.lost.is_set():
                raise VmLost(f"{self.name}: QEMU ended during boot: {self.tail()}")
            if clock() > end:
                self.kill()
                raise Timeout(f"{self.name}: not up after {timeout} s: {self.tail()}")
        self._watched()
        self._see_that_it_fits()
        return self

    def _see_that_it_fits(self):
        """The kernel goes on without what it had no memory for, and some test would miss it."""
        failed = re.search(r"Initramfs unpacking failed: .*", self.console.read_text(errors="replace"))
        if failed:
            self.kill()
            raise Error(f"{self.name}: {failed[0].strip()}: has {self.mem} of memory, and an initramfs of "
                        f"{os.path.getsize(self.system.initrd()) >> 20}M")

    def tail(self, lines=5):
        return " | ".join(self.console.read_text(errors="replace").splitlines()[-lines:])

    def qmp(self, command, **arguments):
        with self.qmp_lock:
            if not getattr(self, "qmp_ready", None) is self.proc:
                self.qmp_file.readline()    # greeting
                self.qmp_ready = self.proc
                self.qmp("qmp_capabilities")
            json.dump({"execute": command, "arguments": arguments}, self.qmp_file)
            self.qmp_file.flush()
            while True:
                reply = json.loads(self.qmp_file.readline())
                if "error" in reply:
                    raise Error(f"{self.name}: {command}: {reply['error']['desc']}")
                if "return" in reply:
                    return reply["return"]

    def tell(self, command):
        """The same for a VM that may just have gone; who needs it will say so."""
        try:
            self.qmp(command)
        except (OSError, ValueError, Error):
            pass

    def pause(self):
        """Until resume(), for a VM that nobody needs just now: others need the processors."""
        keeper.forget(self)
        self.qmp("stop")

    def resume(self):
        self.qmp("cont")
        self._watched()

    def _watched(self):
        if self.accel == "tcg":     # under KVM it gets what there is
            keeper.watch(self)

    def ask_why(self):
        """Have the kernel of a guest that runs no command say on its console what it does.

        The magic keys show all messages, what the processor runs, and which tasks are blocked. A kernel
        that takes no interrupts panics at an NMI, and says there where it was. Neither needs the agent,
        whose queues may be what is stuck: their state is returned, in lines.
        """
        lines = []
        try:
            lines = [f"{self.name} is {self.qmp('query-status')['status']}", *self.queues()]
            size = self.console.stat().st_size
            for key in ("9", "l", "w", "m"):
                self.qmp("send-key", keys=[{"type": "qcode", "data": code} for code in ("alt", "sysrq", key)])
                time.sleep(2)
            if self.console.stat().st_size == size:
                self.qmp("inject-nmi")
                time.sleep(5)
        except (OSError, ValueError, Error) as error:
            lines.append(f"cannot ask {self.name}'s kernel why: {error}")
        return lines

    def queues(self):
        """Lines on the queues of the adapters and of the agent: does the device know of all that the guest has put there?"""
        ends = [(f"eth{nic}", f"/machine/peripheral/nic{nic}/virtio-backend", (0, 1)) for nic in range(len(self.nets))]
        # The first four queues of the agent's device are the first port's, and the device's own.
        ends.append(("agent", next(device["path"] for device in self.qmp("x-query-virtio")
                                   if "serial" in device["name"]), (4, 5)))
        lines = []
        for name, path, queues in ends:
            for queue, direction in zip(queues, ("receive", "send")):
                where = {"path": path, "queue": queue}
                state = self.qmp("x-query-virtio-queue-status", **where)
                put = self.qmp("x-query-virtio-queue-element", **where)["avail"]["idx"]
                lines.append(f"{name} {direction}: guest has put {put}, device has taken {state['last-avail-idx']} "
                             f"and given back {state['used-idx']}, {state['inuse']} in use")
        return lines

    def alive(self):
        return self.proc is not None and self.proc.poll() is None

    def spawn(self, cmd, stdin=b"", sink=None):
        """Start a shell command in the guest; returns its Job."""
        return self.agent.job(cmd, stdin, sink)

    def run(self, cmd, timeout=60, stdin=b"", check=False, sink=None):
        """Run a shell command in the guest to its end."""
        result = self.spawn(cmd, stdin, sink).wait(timeout)
        if check and result.code:
            raise Error(f"{self.name}: exit {result.code}: {cmd}\n{result.out}")
        return result

    def lib(self, cmd, timeout=60, **kwargs):
        """Run a command that may use the helpers of selftests/lib.sh."""
        return self.run(f"LIB_ONLY=1; . /selftests/lib.sh; {cmd}", timeout, **kwargs)

    def push(self, local, remote):
        """Copy a small file into the guest."""
        data = pathlib.Path(local).read_bytes()
        self.run(f"cat > '{remote}'", stdin=data, check=True)

    def pull(self, remote):
        """Contents of a small file in the guest, as bytes."""
        return self.run(f"cat '{remote}'", check=True).raw

    def kill(self):
        """Pull the plug."""
        keeper.forget(self)
        self.ended = True
        if self.alive():
            self.proc.kill()
        if self.proc:
            self.proc.wait()
        if self.agent:
            self.agent.sock.close()

    def poweroff(self, timeout=30):
        """Orderly end: sync, power off, wait; kill if that does not come."""
        try:
            self.spawn("sync; poweroff -f")
            self.proc.wait(timeout * self.system.slowness)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{self.name}: no power-off after {timeout} s") from None
        finally:
            self.kill()

    def restart(self):
        self.kill()
        return self.start()

    @contextlib.contextmanager
    def booted(self, timeout=BOOT_TIMEOUT):
        """Up for as long as a with statement lasts, at whose end its kernel has not complained."""
        try:
            yield self.start(timeout)
            self.judge()
        finally:
            self.kill()

    def splats(self):
        """Lines from the console, and dmesg, that no test may cause.

        Each call looks at what came since the one before. The guest's own
        dmesg is asked too: the console shows only what passed its log level.
        """
        ring, lost = "", None
        if self.alive():
            try:
                # Reads and empties the ring buffer, so nothing is judged twice.
                ring = self.run("dmesg -c", timeout=60).out
                self.log = [*self.log, *ring.splitlines()][-200:]
            except Error as error:
                lost = "\n".join([f"cannot read dmesg: {error}", *self.ask_why()])
        with open(self.console, "rb") as file:
            file.seek(self.judged)
            text = file.read()
            self.judged += len(text)
        lines = text.decode(errors="replace").splitlines() + ring.splitlines()
        lines = without_injected_failures(lines)
        if self.system.kcsan:
            lines = without_foreign_races(lines)
        for index, line in enumerate(lines):
            if SPLAT.search(line):
                return lines[max(0, index - 3):index + 200]
        return [lost, *lines[-200:]] if lost else []

    def judge(self):
        """Raise when the kernel has complained."""
        lines = self.splats()
        if lines:
            raise Error(f"{self.name}: the kernel complained:\n" + "\n".join(lines))

    def leaks(self):
        """Lines about leaked memory and wrong DMA mappings, from a debug kernel."""
        if not (self.system.kmemleak and self.alive()):
            return []
        return self.run(LEAKS, timeout=120).out.splitlines()


def without_foreign_races(lines):
    """The lines but for KCSAN's reports where neither access is ours."""
    kept, index = [], 0
    while index < len(lines):
        end = index + 1
        if RACE.search(lines[index]):
            while end < len(lines) and not RACE_END.search(lines[end]):
                end += 1
            report = lines[index:end]
            frames = [line for at, access in enumerate(report) if RACE_ACCESS.search(access)
                      for line in report[at:at + 1 + RACE_FRAMES]]
            if NOT_OURS.search(lines[index]) or not OURS.search("\n".join(frames)):
                index = end
                continue
        kept += lines[index:end]
        index = end
    return kept


def without_injected_failures(lines):
    """The lines but for reports of allocations that were made to fail."""
    kept, index = [], 0
    while index < len(lines):
        end = index + 1
        before = kept[-INJECTED_LINES:]
        if REFUSED.search(lines[index]) and any(map(INJECTED.search, before)):
            while end < len(lines) and "</TASK>" not in lines[end]:
                end += 1
            end += 1
        else:
            kept.append(lines[index])
        index = end
    return kept


def build_dir():
    return pathlib.Path(os.environ.get("BUILD") or TOP / "build")


def mainline(kver, kind="modules"):
    """Directory with mainline's modules for a kernel; kind "ulp": its rnbd on our transport."""
    args = [TOP / "tools/mainline", kind, kver] + ([build_dir()] if kind == "ulp" else [])
    return subprocess.run(args, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def kernel_args(system, append):
    """Arguments for QEMU, which loads a system's kernel and initrd itself."""
    return ["-machine", "q35", "-kernel", f"{system.image}/boot/vmlinuz-{system.release}",
            "-initrd", str(system.initrd()), "-append", " ".join([CMDLINE, system.cmdline, append])]


class System:
    """What a VM boots: a kernel, and modules on top of its own.

    `modules` lists directories with them; one in a later directory replaces one
    of the same name. Without it they are those of this tree, for use and for tests.
    The kernel's configuration tells whether it looks for bugs (tools/debug-kernel).
    Before it is first booted `modules`, `programs` and `tools` can be added to.
    """

    boot_args = kernel_args

    def __init__(self, directory, kver, modules=None):
        release, image = subprocess.run(
            [TOP / "tools/kernel", "vm", kver], check=True, text=True,
            stdout=subprocess.PIPE).stdout.split()
        self.release, self.image = release, pathlib.Path(image)
        config = (self.image / f"boot/config-{release}").read_text().splitlines()
        self.kcsan = "CONFIG_KCSAN=y" in config
        self.kmemleak = "CONFIG_DEBUG_KMEMLEAK=y" in config
        slow = self.kcsan or "CONFIG_PROVE_LOCKING=y" in config
        self.slowness = DEBUG_SLOWNESS if slow else 1
        self.memory = DEBUG_MEMORY if slow else 1
        self.cmdline = f"{DEBUG_CMDLINE} rtrs.slowness={self.slowness}" if slow else ""
        ours = [build_dir() / release / kind for kind in ("modules", "selftests")]
        by_name = {path.name: path for part in (ours if modules is None else modules)
                   for pattern in ("*.ko", "samples/*/*.ko") for path in pathlib.Path(part).glob(pattern)}
        self.modules = sorted(by_name.values())
        self.programs = [path for name in ("rnbd", "rtrs-perf") for path in (build_dir() / "tools").glob(name)]
        self.tools = []             # of the host, more than every VM has
        self.directory = directory
        self._initrd = None
        self._lock = threading.Lock()

    def initrd(self):
        """The path of its initramfs, which is made when it is first asked for."""
        with self._lock:
            if not self._initrd:
                handle, path = tempfile.mkstemp(prefix="initrd.", dir=self.directory)
                os.close(handle)
                initrd.write(path, self.image, self.release, self.modules, self.programs, self.tools)
                self._initrd = path
            return self._initrd


class Rig:
    """The VMs and networks of one test or series of tests, and their usual system.

    With accel="icount" all of them count their time, see accel_args().
    """

    def __init__(self, kver="6.12", accel=None):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="rtrs-vm."))
        self.vms, self.networks, self.children = [], [], []
        self._lock = threading.RLock()
        self.closed = False
        atexit.register(self.close)
        self.system = System(self.dir, kver)
        self.release = self.system.release
        self.accel = accel or "tcg"
        self.accel = accel or choose_accel(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def child(self, args, **kwargs):
        """Start a process that cannot outlive this one."""
        with self._lock:
            if self.closed:
                raise Error("interrupted")
            proc = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *args], **kwargs)
            self.children.append(proc)
        return proc

    def network(self, vms=2):
        net = Network(self, len(self.networks), vms)
        self.networks.append(net)
        return net

    def vm(self, name="vm", smp=1, mem="1024M", drives=(), nets=(), append="",
           interactive=False, start=True, system=None, counted=False, turns=False):
        """counted: its time is counted in instructions where KVM does not run it. It needs no network then:
        the other end's time would be another. turns: its processors do not run at the same time, see
        accel_args()."""
        if counted and (smp > 1 or nets):
            raise Error(f"{name}: counted time is for one processor without a network")
        vm = Vm(self, name, smp, mem, list(drives), list(nets), append, interactive,
                system or self.system, "icount" if counted and self.accel == "tcg" else self.accel, turns)
        self.vms.append(vm)
        return vm.start() if start else vm

    def check(self):
        """Raise when a VM went away unbidden or its kernel complained."""
        for vm in self.vms:
            vm.judge()
            if not vm.ended and not vm.alive():
                raise VmLost(f"{vm.name} ended by itself: {vm.tail()}")

    def clear(self):
        """Pull the plug of all VMs and forget them and what they said; others may have their names."""
        for vm in self.vms:
            vm.kill()
            vm.console.unlink()
        self.vms.clear()

    def close(self):
        with self._lock:
            self.closed = True
        for proc in self.children:
            if proc.poll() is None:
                proc.kill()
            proc.wait()
        for vm in self.vms:
            if vm.agent:
                vm.agent.sock.close()
        for net in self.networks:
            net.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        atexit.unregister(self.close)


def accel_args(accel, turns=False):
    """Arguments for QEMU: "kvm", "tcg", or "icount", which is TCG with a time of the guest's own.

    There an instruction is a nanosecond, and time in which the only processor has nothing to do is
    skipped. What a test measures does not depend on the host, and waiting costs nothing.

    turns: TCG has one thread for all processors, for a test that has the kernel patch its own code. Else one
    of them may run the breakpoint that another one has put there and has taken away again: the kernel knows
    of none then, and dies.
    """
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    # For QEMU each round of a string instruction is one, in time and in work: the kernel is to copy and
    # clear by words.
    # QEMU 7.2 leaves the flags that CMPXCHG16B does not set to garbage: the low
    # half of whatever was added last. An interrupt right after it (SLUB's
    # fast path, thousands of times a second) then stores and loads NT, TF or
    # RF at random. Without the feature the kernel uses its own routine.
    cpu = ["-cpu", "max,-cx16,-erms,-fsrm"]
    if accel == "icount":
        return ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", *cpu]
    return ["-accel", f"tcg,thread={'single' if turns else 'multi'}", *cpu]


def choose_accel(rig):
    """KVM if a trial boot under it works, else TCG.

    A /dev/kvm may be there and yet not run a stock kernel, so only trying
    tells. The answer is kept for an hour.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    verdict = initrd.CACHE / "accel"
    try:
        if time.time() - verdict.stat().st_mtime < 3600:
            return verdict.read_text().strip()
    except OSError:
        pass
    rig.accel = "kvm"
    trial = Vm(rig, "kvm-trial", 1, "512M", [], [], "", False, rig.system, rig.accel)
    try:
        trial.start(timeout=20)
        accel = "kvm"
    except Error:
        accel = "tcg"
    finally:
        trial.kill()
    print(f"# KVM trial boot: using {accel}", file=sys.stderr, flush=True)
    part = verdict.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    part.write_text(accel + "\n")
    part.rename(verdict)
    return accel


def die_on_signals():
    """Let SIGTERM and SIGHUP unwind like Ctrl-C does, closing every rig."""
    def handler(number, _frame):
        raise KeyboardInterrupt(signal.Signals(number).name)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)
