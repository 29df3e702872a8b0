#!/usr/bin/env bash
# The same run must end in the same state whichever compiler built the program.
#
#   tools/compare_compilers.sh [build/release/berth build/asan/berth]
#
# Prints one line per run that begins with same, DIFFERS or skipped; exit code 1 if one differs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
gcc_berth=${1:-build/release/berth}
clang_berth=${2:-build/asan/berth}
data=../shared/data
status=0

# Every state_hash of a run, in the order printed; a run that fails or prints none says so instead.
hashes() {
  local output
  output=$("$@" 2>&1) || { echo "exit code $?: $(tail -n 1 <<<"$output")"; return; }
  grep -oE '"state_hash": *"?[0-9a-zA-Zx]+' <<<"$output" | sed -E 's/.*: *"?//' | paste -sd ' ' | grep . ||
    echo "no state_hash printed"
}

compare() {
  local name=$1 of_gcc of_clang
  shift
  of_gcc=$(hashes "$gcc_berth" "$@")
  of_clang=$(hashes "$clang_berth" "$@")
  if [[ $of_gcc == "$of_clang" && $of_gcc =~ ^[0-9a-zA-Zx\ ]+$ && $of_gcc != no* ]]; then
    echo "same     $name: $of_gcc"
  else
    echo "DIFFERS  $name"
    echo "         g++:   $of_gcc"
    echo "         clang: $of_clang"
    echo "         run:   berth $*"
    status=1
  fi
}

compare 'generated cluster of 200 nodes, seed 7' simulate run --generate 200 --seed 7 --output json
if [[ -d $data ]]; then
  compare 'openb fill, policy fgd' simulate fill --nodes $data/openb/openb_node_list_gpu_node.csv \
    --pods $data/openb/openb_pod_list_default.csv --policy fgd --seeds 42..44 --until 1.3 --output json
  compare 'philly trace' simulate run --nodes $data/philly/machines.csv --jobs $data/philly/jobs.csv \
    --seed 7 --output json
else
  echo "skipped  recorded traces (openb fill, philly): $data is not there"
fi
exit $status
