#!/usr/bin/env python3
"""Runs a unit's service under the unit's own limits, where there is no systemd to do it.

  run_as_unit.py UNIT                     ExecStartPre, then ExecStart in this process
  run_as_unit.py UNIT --probe COMMAND...  COMMAND instead, under the same limits

Does what these settings say, by the means systemd uses: User, Group, StateDirectory, UMask, Limit*, ProtectSystem=strict,
ProtectHome, PrivateTmp, PrivateDevices, ProtectProc, ProcSubset, CapabilityBoundingSet, NoNewPrivileges, SystemCallFilter,
SystemCallErrorNumber, RestrictAddressFamilies, MemoryDenyWriteExecute, RestrictNamespaces, RestrictSUIDSGID, LockPersonality,
and the MemoryMax= that the unit advises, as a limit of the data segment. A setting of a sandbox that it does not know is an error,
unless it stands in LEFT_OUT. Needs root; Linux 5.12 or newer, libseccomp.so.2 and systemd-analyze.
"""
import ctypes
import errno
import grp
import os
import platform
import pwd
import re
import resource
import shlex
import socket
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
NAMESPACES = 0x7E020080  # every CLONE_NEW* flag
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY = 4096, 16384, 1 << 18, 2, 4, 8, 1
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_SET_KEYRING = 38, 24, 0

# What needs a cgroup or a user namespace of systemd's making, or holds by what is done besides: without capabilities there is no
# clock, module, log or hostname to change.
LEFT_OUT = {
    "DevicePolicy", "PrivateUsers", "PrivateMounts", "ProtectHostname", "ProtectClock", "ProtectKernelTunables", "ProtectKernelModules",
    "ProtectKernelLogs", "ProtectControlGroups", "RestrictRealtime", "RemoveIPC", "KeyringMode", "AmbientCapabilities",
    "SystemCallArchitectures", "TasksMax",
}
DONE = {
    "NoNewPrivileges", "CapabilityBoundingSet", "ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices", "ProtectProc", "ProcSubset",
    "RestrictAddressFamilies", "RestrictNamespaces", "RestrictSUIDSGID", "LockPersonality", "MemoryDenyWriteExecute", "SystemCallFilter",
    "SystemCallErrorNumber", "LimitNOFILE", "LimitCORE", "Nice",
}
OF_MANAGER = {
    "Type", "NotifyAccess", "User", "Group", "ExecStartPre", "ExecStart", "ExecReload", "Restart", "RestartSec", "TimeoutStartSec",
    "TimeoutStopSec", "WatchdogSec", "StateDirectory", "StateDirectoryMode", "UMask",
}


def read_unit(path):
    service, advised, section = {}, {}, ""
    for line in open(path):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and (found := re.fullmatch(r"#?([A-Z]\w+)=(.*)", line)):
            (advised if line.startswith("#") else service).setdefault(found[1], []).append(found[2])
    unknown = set(service) - DONE - LEFT_OUT - OF_MANAGER
    if unknown:
        sys.exit(f"run_as_unit: {path}: settings that are not imitated: {', '.join(sorted(unknown))}")
    return service, advised


def check(result, what):
    if result != 0:
        code = ctypes.get_errno()
        sys.exit(f"run_as_unit: {what}: {os.strerror(code)}")


def mount(source, target, kind, flags, data=""):
    check(libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {target}")


class MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def set_read_only(path, read_only, recursive):
    attributes = MountAttributes(set=int(read_only), clear=int(not read_only))
    result = libc.syscall(442, -100, path.encode(), 0x8000 if recursive else 0, ctypes.byref(attributes), ctypes.sizeof(attributes))
    check(result, f"mount_setattr {path}")


def confine_files(state):
    check(libc.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC), "unshare")
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    writable = [state, "/tmp", "/var/tmp", "/dev"]
    mount(state, state, "none", MS_BIND)
    for path in ("/tmp", "/var/tmp"):
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    for path in ("/home", "/root"):
        mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0000")
    confine_devices()
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible,subset=pid")
    set_read_only("/", True, True)
    for path in writable:
        set_read_only(path, False, False)


def confine_devices():
    nodes = {name: os.stat("/dev/" + name).st_rdev for name in ("null", "zero", "full", "random", "urandom", "tty")}
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755")
    os.umask(0)
    for name, number in nodes.items():
        os.mknod("/dev/" + name, 0o20666, number)


def drop_privileges(user, group):
    # The bounding set first: to shrink it takes a capability.
    last = int(open("/proc/sys/kernel/cap_last_cap").read())
    gid, account = grp.getgrnam(group).gr_gid, pwd.getpwnam(user)

    def now():
        for capability in range(last + 1):
            check(libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "prctl(PR_CAPBSET_DROP)")
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")

    return now


def calls_of(name):
    """A system call, or the members of an @set and of the sets in it."""
    if not name.startswith("@"):
        return {name}
    said = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True).stdout
    members = [line.strip() for line in said.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_of(member) for member in members))


def allowed_calls(lines):
    allowed = calls_of("@default")
    for line in lines:
        named = set().union(*(calls_of(word) for word in line.lstrip("~").split()))
        allowed = allowed - (named - calls_of("@default")) if line.startswith("~") else allowed | named
    return allowed


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class SystemCalls:
    """The filter of system calls: what is not allowed fails with the unit's error."""
    ALLOW, EQUAL, MASKED_EQUAL = 0x7FFF0000, 4, 7

    def __init__(self, refused_with):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.filter = ctypes.c_void_p(self.library.seccomp_init(0x00050000 | refused_with))

    def rule(self, name, action, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        if number < 0:
            return  # not of this machine
        array = (Comparison * len(comparisons))(*comparisons)
        result = self.library.seccomp_rule_add_array(self.filter, ctypes.c_uint32(action), number, len(comparisons), array)
        if result != 0:
            sys.exit(f"run_as_unit: seccomp rule for {name}: {os.strerror(-result)}")

    def allow(self, name, *comparisons):
        self.rule(name, self.ALLOW, *comparisons)

    def allow_without(self, name, argument, bits):
        self.allow(name, Comparison(argument, self.MASKED_EQUAL, bits, 0))

    def load(self):
        result = self.library.seccomp_load(self.filter)
        if result != 0:
            sys.exit(f"run_as_unit: seccomp_load: {os.strerror(-result)}")


def filter_of(service):
    calls = allowed_calls(service["SystemCallFilter"])
    out = SystemCalls(getattr(errno, service["SystemCallErrorNumber"][0]))
    special = {"socket", "mmap", "mprotect", "pkey_mprotect", "shmat", "clone", "clone3", "unshare", "setns", "personality", "chmod", "fchmod", "fchmodat"}
    for name in sorted(calls - special):
        out.allow(name)
    for family in service["RestrictAddressFamilies"][0].split():
        out.allow("socket", Comparison(0, out.EQUAL, int(getattr(socket, family)), 0))
    write, execute = 2, 4
    for neither_both in (0, write, execute):
        out.allow("mmap", Comparison(2, out.MASKED_EQUAL, write | execute, neither_both))
    out.allow_without("mprotect", 2, execute)
    out.allow_without("pkey_mprotect", 2, execute)
    out.allow_without("shmat", 2, 0o100000)
    out.allow_without("clone", 0, NAMESPACES)
    out.rule("clone3", 0x00050000 | errno.ENOSYS)  # its flags are out of a filter's sight; callers fall back to clone
    for name, argument in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2)):
        out.allow_without(name, argument, 0o6000)
    return out


def bytes_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]]


def main():
    unit, probe = sys.argv[1], sys.argv[3:] if sys.argv[2:3] == ["--probe"] else None
    service, advised = read_unit(unit)
    user = service["User"][0]
    state = "/var/lib/" + service["StateDirectory"][0]
    os.makedirs(state, exist_ok=True)
    os.chmod(state, int(service["StateDirectoryMode"][0], 8))
    os.chown(state, pwd.getpwnam(user).pw_uid, grp.getgrnam(service["Group"][0]).gr_gid)
    calls = filter_of(service)  # asks systemd-analyze, which the limits would not let it
    drop = drop_privileges(user, service["Group"][0])
    commands = [probe] if probe else [shlex.split(service[part][0]) for part in ("ExecStartPre", "ExecStart")]
    environment = {key: os.environ[key] for key in ("NOTIFY_SOCKET", "WATCHDOG_USEC") if key in os.environ}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": state, "LANG": "C.UTF-8"}

    confine_files(state)
    os.chdir("/")
    os.umask(int(service["UMask"][0], 8))
    files = min(int(service["LimitNOFILE"][0]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # root may be limited itself
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    resource.setrlimit(resource.RLIMIT_CORE, (int(service["LimitCORE"][0]),) * 2)
    os.setpriority(os.PRIO_PROCESS, 0, int(service["Nice"][0]))
    drop()
    memory = bytes_of(advised["MemoryMax"][0])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    calls.load()
    for before in commands[:-1]:
        pid = os.fork()
        if pid == 0:
            os.execve(before[0], before, environment)
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(f"run_as_unit: ExecStartPre failed: {' '.join(before)}")
    os.execvpe(commands[-1][0], commands[-1], environment)


if platform.machine() not in ("x86_64", "aarch64"):
    sys.exit("run_as_unit: knows the system calls of 64-bit machines only")
main()
