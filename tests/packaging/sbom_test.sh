#!/bin/sh
# usage: sbom_test.sh SOURCE - packaging/make-sbom on a build of small packages with the control fields of the real ones: every package, checksum and
# dependency is in the bill, which holds together as SPDX 2.3 wants it and is the same each time.
set -eu
source=$1
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg-deb here"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
export SOURCE_DATE_EPOCH=1764547200
control=$source/packaging/debian/control

# Packages of the names and fields in debian/control, with nothing in them.
cd "$place"
for name in $(sed -n 's/^Package: //p' "$control"); do
  mkdir -p "$name/DEBIAN"
  awk -v name="$name" '/^Package: / { on = $2 == name } on && /^(Package|Depends|Recommends|Provides|Description|Section|Priority):/' "$control" |
    sed 's/\${misc:Depends}, *//; s/\${shlibs:Depends}/libc6 (>= 2.36), libstdc++6 (>= 12)/; s/\${misc:Depends}/libc6/; s/\${binary:Version}/1.0.0/' >"$name/DEBIAN/control"
  printf 'Version: 1.0.0\nArchitecture: amd64\nMaintainer: Someone <someone@example.org>\n' >>"$name/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$name" "${name}_1.0.0_amd64.deb" >/dev/null
done
echo source >runwarden_1.0.0.dsc
{
  printf 'Format: 1.0\nSource: runwarden\nVersion: 1.0.0\nBuild-Date: %s\nChecksums-Sha256:\n' "$(date)"
  for file in *.deb *.dsc; do echo " $(sha256sum <"$file" | cut -c1-64) $(stat -c %s "$file") $file"; done
  echo 'Installed-Build-Depends:'
  for package in $(sed -n '/^Build-Depends:/,/^[S-Z]/p' "$control" | grep -oE '^(Build-Depends:)? +[a-z0-9][a-z0-9.+-]+' | sed 's/.* //'); do
    echo " $package (= 1:2.0+ds-1),"
  done
  echo ' libstdc++6 (= 12.2.0-14),'
  echo ' libc6:amd64 (= 2.36-9)'
} >runwarden_1.0.0_amd64.buildinfo

"$source/packaging/make-sbom" runwarden_1.0.0_amd64.buildinfo 0123456789abcdef >bill.json || fail "make-sbom"
python3 - "$control" <<'CHECK'
import hashlib, json, re, sys
bill = json.load(open("bill.json"))
packages = {p["SPDXID"]: p for p in bill["packages"]}
relations = {(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in bill["relationships"]}
assert len(packages) == len(bill["packages"]) and len(relations) == len(bill["relationships"]), "something is there twice"
assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
assert bill["creationInfo"]["created"] == "2025-12-01T00:00:00Z", bill["creationInfo"]
assert re.fullmatch(r"https://[^#\s]+-[0-9a-f]{64}", bill["documentNamespace"])
for ident, package in packages.items():
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", ident), ident
    assert package["name"] and package["downloadLocation"] and package["filesAnalyzed"] is False
for end in {e for a, _, b in relations for e in (a, b)}:
    assert end in packages or end == "SPDXRef-DOCUMENT", end
described = {b for a, kind, b in relations if kind == "DESCRIBES"}
assert described == {"SPDXRef-Source-runwarden", "SPDXRef-Package-runwarden", "SPDXRef-Package-runwarden-detectors", "SPDXRef-Package-runwarden-postgres", "SPDXRef-Package-runwarden-sdk-dev"}, described
for ident in described:
    package = packages[ident]
    assert package["checksums"][0]["checksumValue"] == hashlib.sha256(open(package["packageFileName"], "rb").read()).hexdigest()
assert "0123456789abcdef" in packages["SPDXRef-Source-runwarden"]["sourceInfo"]
control = open(sys.argv[1]).read()
for name in re.findall(r"^(?:Build-Depends:)? +([a-z0-9][a-z0-9.+-]+)", control.split("Standards-Version")[0], re.M):
    ident = "SPDXRef-Debian-" + name.replace("+", ".plus.")
    assert (ident, "BUILD_DEPENDENCY_OF", "SPDXRef-Source-runwarden") in relations, name
    assert packages[ident]["versionInfo"] == "1:2.0+ds-1"
    assert packages[ident]["externalRefs"][0]["referenceLocator"] == f"pkg:deb/debian/{name.replace('+', '%2B')}@1%3A2.0%2Bds-1"
needs = lambda a, b: (a, "RUNTIME_DEPENDENCY_OF", b) in relations
assert needs("SPDXRef-Debian-libstdc.plus..plus.6", "SPDXRef-Package-runwarden")
assert needs("SPDXRef-Package-runwarden", "SPDXRef-Package-runwarden-detectors"), "the ABI that runwarden provides"
assert ("SPDXRef-Package-runwarden-detectors", "OPTIONAL_DEPENDENCY_OF", "SPDXRef-Package-runwarden") in relations
CHECK

# The same packages built at another time give the same bill; other bytes than the build's are refused.
sed -i 's/^Build-Date: .*/Build-Date: later/' runwarden_1.0.0_amd64.buildinfo
"$source/packaging/make-sbom" runwarden_1.0.0_amd64.buildinfo 0123456789abcdef | cmp - bill.json || fail "two bills of one build differ"
echo more >>runwarden_1.0.0_amd64.deb
"$source/packaging/make-sbom" runwarden_1.0.0_amd64.buildinfo 0123456789abcdef >/dev/null 2>said && fail "a package that was changed is in the bill"
grep -q 'not the file that' said || fail "it does not say which: $(cat said)"
# The package build makes one.
grep -q 'packaging/make-sbom' "$source/packaging/build-deb" || fail "packaging/build-deb makes no bill"
