#!/bin/sh
# usage: proxies_test.sh SOURCE CACHE RUNWARDEN PLUGINS
# The nginx and haproxy snippets, run for real before a real service: nginx and haproxy in a chroot, the clients in proxies_test.py.
set -eu
source=$1
cache=$2
runwarden=$3
plugins=$4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/chroot.sh"
need_root
"$source/packaging/install-deps" "$here/deps.txt"
command -v openssl >/dev/null || "$source/packaging/install-deps" /dev/stdin <<LIST
openssl
LIST
place=$(mktemp -d)
root=
finish() { end_root; rm -rf --one-file-system "$place"; }
trap finish EXIT
trap 'exit 130' INT TERM
make_root "$cache" "$place/root"
inside apt-get update -q >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; exit 1; }
install_inside --no-install-recommends nginx-light haproxy

mkdir -p "$root/etc/nginx/tls" "$root/etc/haproxy/tls"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=runwarden.example.com \
  -addext subjectAltName=DNS:runwarden.example.com -keyout "$place/key.pem" -out "$place/certificate.pem" 2>"$place/openssl.log"
cp "$place/certificate.pem" "$root/etc/nginx/tls/runwarden.crt"
cp "$place/key.pem" "$root/etc/nginx/tls/runwarden.key"
cat "$place/certificate.pem" "$place/key.pem" >"$root/etc/haproxy/tls/runwarden.pem"
rm -f "$root"/etc/nginx/sites-enabled/*
cp "$source/packaging/nginx/runwarden.conf" "$root/etc/nginx/conf.d/runwarden.conf"
cp "$source/packaging/haproxy/runwarden.cfg" "$root/etc/haproxy/haproxy.cfg"
for proxy in nginx haproxy; do
  python3 "$here/proxies_test.py" "$proxy" "$root" "$place/certificate.pem" "$runwarden" "$plugins" "${RUNWARDEN_TEST_ABORTS:-20000}"
done
