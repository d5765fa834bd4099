# Everything a change has to pass is a target here; .ci/run calls them one after the other.

GO ?= go
TOOL = $(GO) tool -modfile=tools/go.mod

.PHONY: build test race lint fmt gen gen-check descriptors fuzz-smoke conformance conformance-listed conformance-delta delta-writers doctests compatibility clients kafka bench bench-smoke kill-smoke handover differential histories many-files faults vuln oracle clean

build: ## bin/millrace: server and SQL shell in one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/millrace ./cmd/millrace

test: ## all Go tests that take no longer than a moment
	$(GO) test -timeout 50m ./...

race: ## the same under the race detector, with the engine's own invariants switched on
	$(GO) test -timeout 50m -race -tags invariants ./...

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

conformance-listed: build ## only the cases of must_pass.txt, and of Delta tables those of must_pass-delta.txt
	test/conformance/run.sh --listed
	test/conformance/run.sh --suite delta --listed

conformance-delta: build ## all cases of Delta tables (ARGS="-k dl_src -v")
	test/conformance/run.sh --suite delta $(ARGS)

delta-writers: build ## two servers and delta-rs append to one table for SECONDS (120) and lose nothing
	test/delta/run.sh $(SECONDS)

doctests: build ## examples of PySpark's documentation; none of must_pass.txt may fail (ARGS="-v -k NAME" looks at some)
	test/doctests/run.sh $(ARGS)

compatibility: build ## the same; adds what passes, and writes docs/compatibility.md
	test/doctests/run.sh --update

clients: build ## programs of unmodified clients
	test/clients/run.sh

kafka: build ## cases recorded from Spark, faults and security with a real Apache Kafka broker (Java 17 and Maven)
	test/kafka/run.sh

bench: build ## streaming programs over Spark Connect; PEER=sc://host:port adds a server to compare with
	bench/run.sh $(ARGS)

bench-smoke: build ## the same at a tiny scale: does every workload of bench/smoke.txt still run?
	bench/smoke.sh

kill-smoke: ## kill -9 in the middle of batches, restart, nothing lost and nothing twice; N=50 kills each of the three queries more often
	$(GO) run ./test/kill -n $(or $(N),3) -python "$$(scripts/venv.sh)" files-windows-parquet files-rows-parquet files-rows-delta

handover: build ## queries without state in turns on a real Apache Spark (make oracle) and on millrace
	$(GO) run ./test/handover -spark $(or $(PEER),sc://localhost:15099)

differential: ## random questions to millrace and to a real Apache Spark (make oracle), for an hour (TIME=1h): where do they differ?
	$(GO) run ./test/differential -spark $(or $(PEER),sc://localhost:15099) -time $(or $(TIME),1h) $(ARGS)

histories: ## random queries with random rows, restarts and crashes against a slow model, files, and streams against batches: half an hour each (TIME=30m)
	$(GO) test ./test/histories -run "TestHistories|TestCuts|TestFileHistories" -timeout 5h -histories.time=$(or $(TIME),30m)

many-files: ## a stream over a folder of a million files (FILES=1000000): time of a batch, and memory
	MILLRACE_FILES=$(or $(FILES),1000000) $(GO) test ./internal/connector/files -run TestManyFiles -v -timeout 2h

faults: ## the disk fails at every call of the file system, in every way (ARGS="-run TestFaults/windows -v")
	$(GO) test ./test/faults -timeout 2h -faults.all $(ARGS)

vuln: ## known vulnerabilities in what we link
	$(TOOL) govulncheck ./...

oracle: ## a real Apache Spark Connect server to record results from (scripts/spark.sh has the options)
	scripts/spark.sh start

clean:
	rm -rf bin
