#!/usr/bin/env bash
# Runs every fuzz target for a few seconds (FUZZTIME, default 5s): enough to notice a parser that can't
# take what a fuzzer finds first, no replacement for a long run.
set -euo pipefail
cd "$(dirname "$0")/.."
n=0
while IFS=: read -r file _ name; do
  n=$((n + 1))
  echo "== ./$(dirname "$file") $name"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-5s}" "./$(dirname "$file")"
done < <(git ls-files -- '*_test.go' | xargs -r grep -noE '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //')
echo "fuzz-smoke: $n targets"
