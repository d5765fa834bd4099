#!/usr/bin/env bash
# Format, vet and static analysis of the main module and of tools/. Prints what is wrong; changes nothing.
# What depends on the layout of the repository (imports, file lengths, comments) is a Go test: test/imports.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

generated() { grep -lE '^// Code generated .* DO NOT EDIT\.$' "$@"; }
mapfile -t all < <(git ls-files --cached --others --exclude-standard -- '*.go' | while read -r f; do [ ! -e "$f" ] || echo "$f"; done)
mapfile -t own < <(printf '%s\n' "${all[@]}" | grep -vxFf <(generated "${all[@]}"))
bad=$(go tool -modfile=tools/go.mod gofumpt -l "${own[@]}") || failed=1
if [ -n "$bad" ]; then
  printf 'not formatted (make fmt):\n%s\n' "$bad"
  failed=1
fi
go vet ./... || failed=1
go vet -tags invariants,slow,wheel ./... || failed=1
go -C tools vet ./... || failed=1
go tool -modfile=tools/go.mod staticcheck -tags invariants,slow,wheel ./... || failed=1
for f in $(git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run); do
  bash -n "$f" || failed=1
done
exit "$failed"
