#!/bin/sh
# usage: systemd_test.sh SOURCE CACHE
# The packages under a real systemd, booted in namespaces of its own in a chroot: installing starts the service, systemd hears that
# it is ready, reloads and hangs, detectors are taken up as their package comes and goes, purging stops it. Skips itself where no
# systemd can be booted.
#
#   RUNWARDEN_TEST_DEBS=FOLDER   takes packages that were built before, instead of building them
set -eu
source=$1
cache=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/chroot.sh"
need_root
"$source/packaging/install-deps" "$source/packaging/package-deps.txt" "$here/deps.txt"
groups=$(awk '$3 ~ /^cgroup2?$/ && $2 !~ /cpuset/ {print $2 "/runwarden-test-'$$'"}' /proc/mounts)
grep -q ' /sys/fs/cgroup/systemd cgroup .*name=systemd' /proc/mounts || { echo "skipped: no cgroup hierarchy for a second systemd here"; exit 77; }

place=$(mktemp -d)
root=
manager=
finish() {
  [ -z "$manager" ] || kill -KILL "$manager" 2>/dev/null || true
  end_root
  for group in $groups; do
    for _ in 1 2 3 4 5; do
      [ -d "$group" ] || break
      find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
    done
  done
  rm -rf --one-file-system "$place"
}
trap finish EXIT
trap 'exit 130' INT TERM
step() { echo "== $*"; }
fail() { echo "FAILED: $*"; within 'systemctl status runwarden --no-pager; journalctl -u runwarden --no-pager' | tail -n 30; exit 1; }

debs=${RUNWARDEN_TEST_DEBS:-$place/debs}
[ -n "${RUNWARDEN_TEST_DEBS:-}" ] || "$source/packaging/build-deb" "$debs"
make_root "$cache" "$place/root"
inside apt-get update -q >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; exit 1; }
install_inside --no-install-recommends systemd systemd-sysv dbus curl jq
rm "$root/usr/sbin/policy-rc.d"
mkdir -p "$root/var/debs" "$root/oldroot"
cp "$debs"/runwarden_*.deb "$debs"/runwarden-detectors_*.deb "$root/var/debs/"
install_inside --download-only '/var/debs/*.deb'  # there is no network where they are installed
umount -l "$root/dev" "$root/proc"
# What no nested systemd can have everywhere: device nodes, and more descriptors than root itself may have.
mkdir -p "$root/etc/systemd/system/runwarden.service.d"
printf '[Service]\nPrivateDevices=no\nDevicePolicy=auto\nLimitNOFILE=%s\nWatchdogSec=4s\n' "$(ulimit -Hn | sed 's/unlimited/65536/')" \
  >"$root/etc/systemd/system/runwarden.service.d/here.conf"

step "boot"
cat >"$place/boot" <<'BOOT'
set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount -t sysfs -o ro sysfs "$ROOT/sys"
mount -t tmpfs tmpfs "$ROOT/sys/fs/cgroup"
mkdir "$ROOT/sys/fs/cgroup/systemd"
mount -t cgroup -o none,name=systemd cgroup "$ROOT/sys/fs/cgroup/systemd"
mount -t tmpfs tmpfs "$ROOT/run"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
mkdir "$ROOT/dev/pts" "$ROOT/dev/shm"
for node in null zero full random urandom tty; do
  touch "$ROOT/dev/$node"
  mount --bind "/dev/$node" "$ROOT/dev/$node"
done
cd "$ROOT"
pivot_root . oldroot
umount -l /oldroot
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --log-target=journal --show-status=no
BOOT
# In groups of its own everywhere, so that nothing of it stays in those of the machine.
for group in $groups; do mkdir "$group"; done
GROUPS_OF_ITS_OWN=$groups ROOT=$root sh -c 'for group in $GROUPS_OF_ITS_OWN; do echo $$ >"$group/cgroup.procs"; done
  exec unshare --mount --pid --fork --kill-child --uts --ipc --cgroup --net sh "$1"' sh "$place/boot" \
  </dev/null >"$place/boot.log" 2>&1 &
starter=$!
within() {
  timeout 120 nsenter -t "$manager" -m -p -u -i -n -C -r -w -- /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive sh -c "$1"
}
for _ in $(seq 100); do
  manager=$(ps -o pid= --ppid "$starter" | tr -d ' ')
  [ -n "$manager" ] && within 'systemctl is-system-running --wait' >"$place/running" 2>/dev/null && break
  kill -0 "$starter" 2>/dev/null || { echo "skipped: systemd does not boot here: $(cat "$place/boot.log")"; manager=; exit 77; }
  sleep 0.2
done
grep -qE 'running|degraded' "$place/running" || { echo "skipped: systemd did not come up: $(cat "$place/running")"; exit 77; }
within 'ip link set lo up 2>/dev/null || true'
property() { within "systemctl show runwarden -p $1 --value"; }
is() { [ "$(property "$1")" = "$2" ] || fail "$1 is '$(property "$1")', expected '$2'"; }

step "installing starts the service, with its detectors"
within 'apt-get install -y -q /var/debs/runwarden_*.deb /var/debs/runwarden-detectors_*.deb' >"$place/apt.log" 2>&1 ||
  { tail -n 20 "$place/apt.log"; fail "apt install"; }
is ActiveState active
is StatusText "serving on 127.0.0.1:8080 with 5 detectors"
within 'curl -sS -f http://127.0.0.1:8080/readyz' >/dev/null || fail "/readyz"

step "reload, and a reload that is refused"
within 'systemctl reload runwarden' || fail "reload"
is StatusText "serving on 127.0.0.1:8080 with 5 detectors"
within 'echo "nonsense: 1" >>/etc/runwarden/runwarden.yaml; systemctl reload runwarden; sed -i "\$d" /etc/runwarden/runwarden.yaml'
case "$(property StatusText)" in *"the reload was refused"*nonsense*) ;; *) fail "the status does not say why: $(property StatusText)" ;; esac
is ActiveState active

step "a process that hangs, crashes or ends of its own accord is started anew"
before=$(property MainPID)
within 'sleep 6'
is MainPID "$before"
await_other() {  # than the process $1; sets `now`
  for _ in $(seq 60); do
    now=$(property MainPID)
    [ "$now" != "$1" ] && [ "$now" != 0 ] && [ "$(property ActiveState)" = active ] && return
    sleep 0.5
  done
  fail "$2"
}
within "kill -STOP $before"
await_other "$before" "a process that stood still was left there"
for signal in SEGV TERM; do  # after SIGTERM its exit status is 0, as after an _exit(0) of a detector
  before=$now
  within "kill -$signal $before"
  await_other "$before" "a process that ended by SIG$signal was not started anew"
done

step "detectors are taken up as their package goes and comes"
within 'apt-get remove -y -q runwarden-detectors' >"$place/apt.log" 2>&1 || fail "remove"
is StatusText "serving on 127.0.0.1:8080 with 0 detectors"
within 'apt-get install -y -q /var/debs/runwarden-detectors_*.deb' >"$place/apt.log" 2>&1 || fail "install again"
is StatusText "serving on 127.0.0.1:8080 with 5 detectors"
is MainPID "$now"

step "purging stops it"
within 'apt-get purge -y -q "runwarden*"' >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; fail "purge"; }
within '! systemctl is-active --quiet runwarden && [ ! -e /var/lib/runwarden ] && [ ! -e /etc/runwarden ]' || fail "something is left"
echo "all well"
