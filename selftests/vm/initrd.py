# SPDX-License-Identifier: GPL-2.0-only
"""Assemble the initramfs of a test VM.

Two cpio archives, one after the other. The base holds the host's own tools,
with the libraries they link to, and the modules of the distribution kernel; it
is kept in the cache, named by a hash of everything it was made from. The
overlay holds what changes between two runs: our modules and the selftests.
"""

import fcntl
import hashlib
import lzma
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SELFTESTS = HERE.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                     or pathlib.Path.home() / ".cache") / "rtrs"

# Tools of the host; they win over the busybox applets of the same name.
TOOLS = """dash bash kmod ip tc rdma bridge fio mke2fs mkfs.ext4 e2fsck tune2fs dumpe2fs
           mdadm dmsetup blockdev blkdiscard fallocate losetup lsblk dd truncate sync
           taskset timeout stat xxd script""".split()
TOOLS_OPTIONAL = {"xxd", "lsblk", "dumpe2fs"}
KMOD_LINKS = "modprobe insmod rmmod lsmod modinfo depmod".split()

# With everything that they depend on.
MODULES = """virtio_pci virtio_console virtio_blk virtio_net
             ib_core ib_uverbs ib_umad rdma_cm rdma_ucm rdma_rxe siw
             crc32_generic crc32c_generic crc32c_intel crc32_pclmul
             veth bridge sch_netem sch_prio sch_plug sch_ingress cls_u32 act_mirred ifb dummy
             loop brd null_blk nbd configfs scsi_debug sd_mod
             ext4 raid1 md_mod dm_mod dm_delay dm_flakey kunit""".split()

# Terminals that programs on a console or in a script may meet.
TERMINALS = "dumb linux vt100 xterm".split()

# How a module with a signature ends.
SIGNED = b"~Module signature appended~\n"

SEARCH = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]


class Cpio:
    """A cpio archive (newc) in the making; needs no privileges."""

    def __init__(self, out):
        self.out = out
        self.seen = set()
        self.ino = 0

    def _entry(self, name, mode, data=b""):
        self.ino += 1
        name = name.encode() + b"\0"
        fields = (self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
                  len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.out.write(head + b"\0" * (-len(head) % 4))
        self.out.write(data + b"\0" * (-len(data) % 4))

    def _new(self, name):
        if name in self.seen:
            return False
        self.seen.add(name)
        parent = os.path.dirname(name)
        if parent:
            self.dir(parent)
        return True

    def dir(self, name):
        if self._new(name):
            self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o644):
        if self._new(name):
            self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        if self._new(name):
            self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def copy(self, name, path):
        path = pathlib.Path(path)
        self.file(name, path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def end(self):
        self._entry("TRAILER!!!", 0)
        self.out.write(b"\0" * (-self.out.tell() % 512))


def find_tool(name):
    for place in SEARCH:
        path = os.path.join(place, name)
        if os.path.exists(path):
            return path
    if name in TOOLS_OPTIONAL:
        return None
    raise FileNotFoundError(f"{name} is not on this host")


def libraries(path):
    """Absolute paths of the shared libraries and the loader of a program."""
    out = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    words = [word for line in out.splitlines() for word in line.split()]
    return {word for word in words if word.startswith("/")}


def terminals():
    """{path in the guest: path on the host} of descriptions of terminals."""
    found = {}
    for name in TERMINALS:
        for place in ("/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"):
            path = f"{place}/{name[0]}/{name}"
            if os.path.exists(path):
                found[f"/usr/share/terminfo/{name[0]}/{name}"] = os.path.realpath(path)
                break
    return found


def module_closure(moddir, names):
    """Files, below moddir, of the modules and all they depend on."""
    deps, by_name = {}, {}
    for line in (moddir / "modules.dep").read_text().splitlines():
        file, _, rest = line.partition(":")
        deps[file] = rest.split()
        stem = os.path.basename(file).split(".")[0].replace("-", "_")
        by_name[stem] = file
    files = set()
    for name in names:
        if name in by_name:     # else built in, or not in this kernel
            files.update([by_name[name]], deps[by_name[name]])
    return sorted(files)


def read_module(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def module_tree(image, release):
    """Where the modules of a kernel are, and what depends on what; a package does not tell."""
    tree = image / "lib/modules" / release
    if not (tree / "modules.dep").exists():
        subprocess.run(["depmod", "-b", image, release], check=True)
    return tree


def stage_modules(image, release, stage):
    """The modules a VM gets, unpacked, as a tree that depmod can work on."""
    source = module_tree(image, release)
    target = stage / "lib/modules" / release
    for file in module_closure(source, MODULES):
        out = target / file.removesuffix(".xz")
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(read_module(source / file))
    for meta in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        shutil.copy(source / meta, target / meta)


def build_agent(out):
    subprocess.run(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-o", out,
                    HERE / "agent.c"], check=True)


def build_netlink(out):
    """The tests' own client of our netlink family; libmnl is there because of ip."""
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-o", out, HERE / "netlink.c", "-lmnl"], check=True)


def stock_modules(image, release, names, directory):
    """More modules of the kernel, with what they depend on, unpacked there; their paths."""
    source, paths = module_tree(image, release), []
    for file in sorted(set(module_closure(source, names)) - set(module_closure(source, MODULES))):
        paths.append(pathlib.Path(directory) / os.path.basename(file).removesuffix(".xz"))
        paths[-1].write_bytes(read_module(source / file))
    return paths


def tool_files(names):
    """{path in the guest: path on the host} of tools and libraries."""
    files = {}
    for name in names:
        path = find_tool(name)
        if path:
            files[path] = os.path.realpath(path)
            files.update({lib: os.path.realpath(lib) for lib in libraries(path)})
    return files


def write_base(out, stage, image, release, files):
    cpio = Cpio(out)
    # One place for all programs and libraries, as on any merged-/usr system.
    for name in ("bin", "sbin", "lib", "lib64"):
        cpio.dir("usr/" + name)
        cpio.link(name, "usr/" + name)
    for name in "dev proc sys tmp run mnt root etc".split():
        cpio.dir(name)
    cpio.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    cpio.file("etc/group", b"root:x:0:\ndisk:x:6:\n")
    if os.path.exists("/etc/mke2fs.conf"):
        cpio.copy("etc/mke2fs.conf", "/etc/mke2fs.conf")
    add_files(cpio, files)
    # Not busybox's shell: it runs its own ip, dd and so on before any in PATH.
    cpio.link("usr/bin/sh", "dash")
    for name in KMOD_LINKS:
        cpio.link("usr/sbin/" + name, "../bin/kmod")
    busybox = find_tool("busybox")
    cpio.copy("usr/bin/busybox", busybox)
    applets = subprocess.run([busybox, "--list"], capture_output=True,
                             text=True, check=True).stdout.split()
    real = {os.path.basename(name) for name in cpio.seen}
    for name in applets:
        if name not in real:
            cpio.link("usr/bin/" + name, "busybox")
    build_agent(stage / "agent")
    cpio.copy("usr/sbin/agent", stage / "agent")
    stage_modules(image, release, stage)
    add_tree(cpio, stage / "lib", "usr/lib")
    cpio.copy("init", HERE / "init")
    cpio.end()


def add_files(cpio, files):
    for guest, host in sorted(files.items()):
        guest = guest.lstrip("/")
        cpio.copy(guest if guest.startswith("usr/") else "usr/" + guest, host)


def add_tree(cpio, root, prefix):
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            cpio.copy(f"{prefix}/{path.relative_to(root)}", path)


def base(image, release):
    """Cached directory with the base archive and the tree of its modules."""
    files = tool_files(TOOLS) | terminals()
    key = hashlib.sha256(image.name.encode())
    for path in [*sorted(files.values()), find_tool("busybox"),
                 HERE / "agent.c", HERE / "init", __file__]:
        info = os.stat(path)
        key.update(f"{path} {info.st_size} {info.st_mtime_ns}\n".encode())
    made = CACHE / f"initrd-{release}-{key.hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    # What is used gets a new time, under the lock: what another checkout uses is not removed as long as a day lies
    # between two uses at most, nor between its being found here and its being read, which write() does at once.
    with open(CACHE / ".initrd.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.exists():
            os.utime(made)
            return made
        for old in CACHE.glob(f"initrd-{release}-*"):
            if time.time() - old.stat().st_mtime > 24 * 3600:
                shutil.rmtree(old, ignore_errors=True)
    stage = pathlib.Path(tempfile.mkdtemp(dir=CACHE, prefix=".initrd."))
    try:
        with open(stage / "base.cpio", "wb") as out:
            write_base(out, stage, image, release, files)
        try:
            os.rename(stage, made)
        except OSError:
            # Somebody else may have been faster; theirs is as good.
            if not made.exists():
                raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return made


def install_module(path, directory):
    """There as a distribution has it: without debug information, which is nine tenths of a module of ours, and of
    the memory that it takes in a VM. One that is signed, and so comes from a distribution, would lose its signature.
    """
    if path.read_bytes().endswith(SIGNED):
        shutil.copy(path, directory)
    else:
        subprocess.run(["objcopy", "--strip-debug", path, directory / path.name], check=True)


def write_overlay(cpio, tree, release, modules, programs):
    """Our modules under updates/, where modprobe prefers them; our programs, with their libraries; the selftests."""
    base_files = tool_files(TOOLS).keys()
    with tempfile.TemporaryDirectory() as tmp:
        moddir = pathlib.Path(tmp) / "lib/modules" / release
        shutil.copytree(tree / "lib/modules" / release, moddir,
                        copy_function=os.symlink)
        (moddir / "updates").mkdir()
        for module in modules:
            install_module(module, moddir / "updates")
        subprocess.run(["depmod", "-b", tmp, release], check=True)
        for path in [*moddir.glob("modules.*"), *moddir.glob("updates/*")]:
            cpio.copy(f"usr/lib/modules/{release}/{path.relative_to(moddir)}", path)
        build_netlink(pathlib.Path(tmp) / "netlink")
        cpio.copy("usr/sbin/netlink", pathlib.Path(tmp) / "netlink")
    for path in programs:
        cpio.copy(f"usr/sbin/{path.name}", path)
        add_files(cpio, {lib: os.path.realpath(lib) for lib in libraries(path) - base_files})
    for path in [*sorted(SELFTESTS.glob("*.sh")), SELFTESTS / "config"]:
        cpio.copy(f"selftests/{path.name}", path)
    for name in ("rtrs", "rnbd", "vm", "bench"):
        if (SELFTESTS / name).is_dir():
            add_tree(cpio, SELFTESTS / name, f"selftests/{name}")


def write(out_path, image, release, modules, programs, tools):
    """The whole initramfs: base, our modules and programs, more tools of the host, the selftests."""
    made = base(image, release)
    with open(out_path, "wb") as out:
        with open(made / "base.cpio", "rb") as src:
            shutil.copyfileobj(src, out, 1 << 20)
        cpio = Cpio(out)
        write_overlay(cpio, made, release, modules, programs)
        if tools:
            add_files(cpio, dict(tool_files(tools).items() - tool_files(TOOLS).items()))
        cpio.end()
