#!/bin/sh
# usage: rename.sh TEMPLATE - what the template's rename script refuses, and that a refusal changes nothing.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cp -r "$1" "$place/mine"

refuses() {
  said=$1
  shift
  if "$place/mine/rename" "$@" > "$place/said" 2>&1; then echo "taken: $*"; exit 1; fi
  grep -qF -- "$said" "$place/said" || { cat "$place/said"; echo "of $* it did not say: $said"; exit 1; }
}
refuses "usage: ./rename KEY [TITLE]"
refuses "usage: ./rename KEY [TITLE]" late_shipping Late shipping
refuses "\"Late-Shipping\" is not a valid key" Late-Shipping
refuses "\"1st\" is not a valid key" 1st
refuses "is not a valid key" "late
shipping"
refuses "\"test\" is a target of CMake's own" test
refuses "\"preinstall\" is a target of CMake's own" preinstall
refuses "that is its name already" pii_leak
refuses "the title is empty" late_shipping ""
refuses "the title is empty or blank" late_shipping " 	"
refuses "the title must do without" late_shipping 'Late "shipping"'
refuses "the title must be one line" late_shipping "Late
shipping"
diff -r "$1" "$place/mine" || { echo "a refusal changed files"; exit 1; }

# Its class may have any name: the template has no type of its own beside it.
types=$(grep -oE '(using|class|struct) +[A-Z][A-Za-z]*( =|[ :]*public)' "$1/src/pii_leak.cpp" | wc -l)
[ "$types" -eq 1 ] || { echo "src/pii_leak.cpp has $types types: a renamed class may have the name of one"; exit 1; }

"$place/mine/rename" late_shipping 'Late & lost | 50/50'
grep -q 'class LateShipping : public rw::Detector' "$place/mine/src/late_shipping.cpp"
grep -qF '{"late_shipping", "1.0.0", "Late & lost | 50/50", kSchema}' "$place/mine/src/late_shipping.cpp"
grep -q '^Package: runwarden-detector-late-shipping$' "$place/mine/debian/control"
grep -q 'runwarden_add_detector(late_shipping SOURCES src/late_shipping.cpp' "$place/mine/CMakeLists.txt"
grep -q '^library: late_shipping.so$' "$place/mine/detectors.d/late_shipping.yaml"
[ -x "$place/mine/ci/check" ] && [ -f "$place/mine/tests/late_shipping_test.cpp" ]
refuses "this copy was renamed before" other_name
