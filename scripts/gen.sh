#!/usr/bin/env bash
# Writes everything generated afresh; "gen.sh check" only tells what is stale and changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

gen() {
  go -C tools run ./protogen
  go generate ./...
}

if [ "${1:-}" != check ]; then
  gen
  exit
fi
# The generators run in a copy: a check must not touch the tree it checks.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
  [ ! -e "$f" ] || printf '%s\0' "$f"
done | xargs -0 cp --parents -t "$copy"
mkdir "$copy/.was" && (cd "$copy" && find . -path ./.was -prune -o -type f -print0 | xargs -0 cp --parents -t .was)
cd "$copy"
gen
if ! diff -rq --exclude=.was . .was; then
  echo "gen-check: the files above are stale; run make gen and commit them" >&2
  exit 1
fi
