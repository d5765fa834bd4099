# Everything a change has to pass is a target here; .ci/run calls them one after the other.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod

.PHONY: build test race lint fmt gen gen-check descriptors fuzz-smoke conformance conformance-listed clients bench bench-smoke kill-smoke handover histories faults vuln oracle clean

build: ## bin/millrace: server and SQL shell in one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/millrace ./cmd/millrace

test: ## all Go tests that take no longer than a moment
	$(GO) test ./...

race: ## the same under the race detector, with the engine's own invariants switched on
	$(GO) test -race -tags invariants ./...

lint: ## format, vet, staticcheck; then the rules about layout and imports
	scripts/lint.sh
	$(GO) test -count=1 ./test/imports

fmt:
	$(TOOL) gofumpt -w $$(git ls-files --cached --others --exclude-standard -- '*.go' | xargs grep -LE '^// Code generated .* DO NOT EDIT\.$$')

gen: ## write everything generated afresh
	scripts/gen.sh

gen-check: ## fail if something generated is stale
	scripts/gen.sh check

descriptors: ## is our protocol, field by field, that of the pyspark-client wheel?
	test/descriptors/run.sh

fuzz-smoke: ## every fuzz target for FUZZTIME (5s)
	scripts/fuzz-smoke.sh

conformance: build ## all cases over Spark Connect; none of must_pass.txt may fail (ARGS="-k f04_ -v")
	test/conformance/run.sh $(ARGS)

conformance-listed: build ## only the cases of must_pass.txt
	test/conformance/run.sh --listed

clients: build ## programs of unmodified clients
	test/clients/run.sh

bench: build ## streaming programs over Spark Connect; PEER=sc://host:port adds a server to compare with
	bench/run.sh $(ARGS)

bench-smoke: build ## the same at a tiny scale: does every workload of bench/smoke.txt still run?
	bench/smoke.sh

kill-smoke: build ## kill -9 in the middle of batches, restart, nothing lost and nothing twice
	$(GO) run ./test/kill -n 3

handover: build ## queries without state in turns on a real Apache Spark (make oracle) and on millrace
	$(GO) run ./test/handover -spark $(or $(PEER),sc://localhost:15099)

histories: ## random queries with random rows, restarts and crashes against a slow model, for half an hour (TIME=30m)
	$(GO) test ./test/histories -run TestHistories -timeout 5h -histories.time=$(or $(TIME),30m)

faults: ## the disk fails at every call of the file system, in every way (ARGS="-run TestFaults/windows -v")
	$(GO) test ./test/faults -timeout 2h -faults.all $(ARGS)

vuln: ## known vulnerabilities in what we link
	$(TOOL) govulncheck ./...

oracle: ## a real Apache Spark Connect server to record results from (scripts/spark.sh has the options)
	scripts/spark.sh start

clean:
	rm -rf bin
