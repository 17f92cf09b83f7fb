#!/bin/sh
# usage: refusal_mutation.sh TEST_PROGRAM ZOO_FOLDER - passes when the tests of refusals go red in a zoo whose animals are all tame: a host that
# took what it must refuse would be seen by each of them.
set -u
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for animal in "$2"/*.so; do cp "$2/good.so" "$place/$(basename "$animal")"; done
RUNWARDEN_TEST_ZOO=$place "$1" --gtest_filter='Refusal.*' > "$place/said" 2>&1
status=0
for row in WhenTheStackIsExecutable_SaysSo WhenThereIsNoEntry_SaysSo WhenASymbolIsUnresolved_RepeatsTheLoadersWords \
  WhenTheMajorIsAnother_SaysSo WhenTheEntryIsOfAnotherMajor_SaysSo WhenTheHostIsTooOld_NamesBothVersionsAndTheRemedy \
  WhenTheRunSchemaIsTooNew_SaysSo WhenARequiredCapabilityIsUnknown_SaysSo WhenAFunctionIsNull_NamesIt WhenAKeyStandsTwice_SaysSo \
  WhenAKeyIsMalformed_SaysSo WhenAStructIsTooSmall_NamesIt WhenThereAreNoDetectors_SaysSo WhenTheSchemaIsFaulty_SaysSo \
  WhenCreateFails_RepeatsThePluginsText WhenCreateGivesNothing_SaysSo WhenCreateThrowsAcross_SaysSo; do
  grep -q "^\[  FAILED  \] Refusal.$row" "$place/said" && continue
  echo "Refusal.$row did not go red"
  status=1
done
grep -q '^\[       OK \] Refusal.WhenTheFileIsGood_ThereIsNone' "$place/said" || { echo "the control went red, too"; status=1; }
exit $status
