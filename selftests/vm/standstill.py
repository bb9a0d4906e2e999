# SPDX-License-Identifier: GPL-2.0-only
"""Stops the clocks of VMs while the host has no processor for them.

A VM whose time is the host's loses paths when the host is itself a VM and gives
its processors to others: 5 s of that were seen to cost a connection on every
layer, from rdma_rxe's retransmissions to the heartbeats. No transport can do
otherwise, so nothing can be concluded from it. Here such VMs stand still until
the host is back, their clocks too, and the guests do not notice; all waiting on
the host goes by clock(), which stands still with them.

What the host did not get is "steal" in /proc/stat. It counts only while somebody
wants to run, so with all VMs standing still this program runs, a little, to see.
"""

import collections
import os
import signal
import threading
import time

PERIOD_S = 0.03
WINDOW_S = 0.12         # that a decision rests on; the kernel counts in 0.01 s
STOLEN = 0.5            # of a processor's time: no VM can keep its promises
GIVEN_BACK = 0.2
PROBE_S = 0.06          # on each processor
LONGEST_S = 60          # with a host that is always like that, tests go on and show it
GRACE_S = 10
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
STEAL = 8               # word of a line of /proc/stat
CPUS = frozenset(os.sched_getaffinity(0))


def stolen():
    """{processor: seconds it was wanted and not given} of those this program may use."""
    with open("/proc/stat") as file:
        lines = [line.split() for line in file if line.startswith("cpu") and line[3].isdigit()]
    return {cpu: int(words[STEAL]) * TICK_S for words in lines if (cpu := int(words[0][3:])) in CPUS}


def most(before, after):
    """Seconds stolen in between, of the processor that lost most."""
    return max((now - before.get(cpu, now) for cpu, now in after.items()), default=0)


def share(before, after, seconds):
    return most(before, after) / seconds


class Standstill(threading.Thread):
    """Watches over the VMs, and switches between them, that run in this program."""

    def __init__(self):
        super().__init__(name="standstill", daemon=True)
        self.vms, self.switches = [], []
        self.lock, self.standing = threading.Lock(), threading.Lock()
        self.times, self.stood, self.since = 0, 0.0, None

    def watch(self, vm):
        with self.lock:
            if vm not in self.vms:
                self.vms.append(vm)
            if not self.is_alive():
                self.start()

    def forget(self, vm):
        with self.lock:
            self.vms = [other for other in self.vms if other is not vm]

    def clock(self):
        """Seconds like time.monotonic(), without those in which the VMs stood still."""
        now, since = time.monotonic(), self.since
        return (now if since is None else since) - self.stood

    def summary(self):
        """What there is to tell, or nothing."""
        return (f"the host had no processor for the VMs {self.times} times; "
                f"they stood still for {self.stood:.1f} s") if self.times else ""

    def run(self):
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
        except PermissionError:
            pass            # it is late at times, then
        past, patience = collections.deque(), 0
        while True:
            time.sleep(PERIOD_S)
            now, have = time.monotonic(), stolen()
            past.append((now, have))
            # The first one stays the newest of those that are old enough.
            while len(past) > 1 and now - past[1][0] >= WINDOW_S:
                past.popleft()
            start, before = past[0]
            if now - start < WINDOW_S or share(before, have, now - start) < STOLEN:
                continue
            if self.vms and now > patience and not self.stand_still(lambda: self.given_back() and self.given_back()):
                patience = time.monotonic() + GRACE_S
            past.clear()

    def stand_still(self, over):
        """Until it is over, but not for ever; whether it is."""
        with self.standing:
            with self.lock:
                vms, switches = list(self.vms), list(self.switches)
            # A frame for a VM that takes nothing would be thrown away after a while.
            signal_all(switches, signal.SIGSTOP)
            self.since = start = time.monotonic()
            self.times += 1
            for vm in vms:
                vm.tell("stop")
            is_over = False
            while not is_over and time.monotonic() - start < LONGEST_S:
                time.sleep(PERIOD_S)
                is_over = over()
            for vm in vms:
                vm.tell("cont")
            self.stood, self.since = self.stood + time.monotonic() - start, None
            signal_all(switches, signal.SIGCONT)
        return is_over

    @staticmethod
    def given_back():
        """Every processor is there when it is wanted."""
        before, start = stolen(), time.monotonic()
        try:
            for cpu in CPUS:
                os.sched_setaffinity(0, {cpu})      # of this thread
                end = time.monotonic() + PROBE_S
                while time.monotonic() < end:
                    pass
        finally:
            os.sched_setaffinity(0, CPUS)
        return share(before, stolen(), (time.monotonic() - start) / len(CPUS)) < GIVEN_BACK


def signal_all(procs, number):
    for proc in procs:
        if proc.poll() is None:
            proc.send_signal(number)


keeper = Standstill()
clock = keeper.clock
