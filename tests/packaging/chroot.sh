# A bare Debian 12 to do things in: sourced by the slow tests. Needs root, debootstrap and a package mirror; ends what it began.
#
#   RUNWARDEN_TEST_MIRROR   where packages come from; default http://deb.debian.org/debian

need_root() {
  [ "$(id -u)" -eq 0 ] || { echo "skipped: a chroot needs root; run as root, or leave the label slow out"; exit 77; }
}

# make_root CACHE FOLDER: a copy of the bare system, ready to be entered.
make_root() {
  cache=$1/minbase.tar
  root=$2
  if [ ! -f "$cache" ]; then
    mkdir -p "$1"
    rm -rf --one-file-system "$1/minbase"
    debootstrap --variant=minbase bookworm "$1/minbase" "${RUNWARDEN_TEST_MIRROR:-http://deb.debian.org/debian}" >"$1/debootstrap.log" 2>&1 || {
      tail -n 20 "$1/debootstrap.log"; exit 1; }
    tar -C "$1/minbase" -cf "$cache.new" . && mv "$cache.new" "$cache"
    rm -rf --one-file-system "$1/minbase"
  fi
  mkdir -p "$root"
  tar -C "$root" -xf "$cache"
  # No service starts by itself in there, and what the machine knows of mirrors and proxies holds inside too.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for part in /etc/apt/apt.conf.d/*; do
    case $part in */01autoremove|*/70debconf|*/docker-*) ;; *) grep -qsE '^ *(Acquire|APT::Get)' "$part" && cp "$part" "$root/etc/apt/apt.conf.d/" ;; esac
  done
  mount --bind "$root" "$root"
  mount --make-private "$root"
  mount -t proc proc "$root/proc"
  mount -t devtmpfs dev "$root/dev" 2>/dev/null || mount --bind /dev "$root/dev"
}

end_root() {
  [ -n "${root:-}" ] && [ -d "$root" ] || return 0
  umount -l "$root/dev" "$root/proc" 2>/dev/null || true
  umount -l "$root" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# install_inside PACKAGE...: with what they recommend, as an operator's apt does; patterns of files inside are fine.
install_inside() {
  inside sh -c "apt-get install -y -q -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold $*" >"$root/../apt.log" 2>&1 || {
    tail -n 40 "$root/../apt.log"; return 1; }
}
