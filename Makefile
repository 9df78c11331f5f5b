# The root module is built and tested without the workspace, so that it cannot
# depend on the Temporal server in dev.
root := GOWORK=off go
dev  := cd dev && go

# SQLite here is C in the form of Go. The race detector sees the locks around it, but
# need not see its memory: that takes two thirds of the time of the tests. All was vetted
# before; "go test" would vet again, and all dependencies with it.
RACE     ?= -race -gcflags='modernc.org/sqlite/lib=-race=false -d=checkptr=0'
FUZZTIME ?= 10s

workflowcheck := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0

.PHONY: test check proof proof-faults proof-power proof-nets proof-clocks proof-skew proof-chaos proof-bugs format vet test-root test-dev test-race lint workflowcheck chart chart-install test-release bench microbench record fuzz build release tidy outdated clean

# All required checks. scripts/test installs what they need, and then makes this.
test: format vet lint test-root test-dev

# Further checks.
check: test test-race workflowcheck chart test-release

format:
	@echo "== gofmt"
	@files=$$(gofmt -l .) || exit 1; \
	if [ -n "$$files" ]; then echo "Not formatted:"; echo "$$files"; exit 1; fi

vet:
	@echo "== go vet"
	$(root) vet ./...
	$(dev) vet ./...
	cd examples/program && go vet ./...

test-root:
	@echo "== Tests of the service"
	$(root) test $(RACE) -vet=off -shuffle=on -timeout 30m ./...

# Most of these run programs, which the cache of test results does not notice.
# Tests that have Temporal's server in their own process are without the race detector, so that
# the server is built once, for the programs that all others start; test-race has the detector.
# Three packages at a time, since they wait more than they work: one of those, with the longest,
# and two of the others. First all is compiled that both need.
servers  := go list -test -f '{{$$p := .ImportPath}}{{range .Deps}}{{if eq . "go.temporal.io/server/temporal"}}{{$$p}}{{end}}{{end}}' ./... | sed -n 's/\.test$$//p'
dev-test := -vet=off -count=1 -timeout 30m
test-dev:
	@echo "== Tests against the embedded Temporal server"
	@cd dev && servers=$$($(servers)) && others=$$(go list ./... | grep -vxF "$$servers") && go list -export -deps $$servers >/dev/null && status=0 && \
	echo "go test $(dev-test) -p 1" $$servers && { go test $(dev-test) -p 1 $$servers & } && \
	echo 'go test $(RACE) $(dev-test) -p 2 ...' && { go test $(RACE) $(dev-test) -p 2 $$others || status=1; } && \
	{ wait $$! || status=1; } && exit $$status

# Temporal's server in the process of a test, with the race detector, which takes minutes to build.
test-race:
	@echo "== Temporal's server with the race detector"
	$(dev) test $(RACE) $(dev-test) ./temporald ./e2e/cost

# The tools are in a module of their own, so that their dependencies are not the product's.
lint:
	@echo "== staticcheck"
	$(root) tool -modfile=tools/go.mod staticcheck ./...
	cd dev && "$$(cd .. && $(root) tool -modfile=tools/go.mod -n staticcheck)" ./...
	@echo "== deadcode"
	@deadcode=$$($(root) tool -modfile=tools/go.mod -n deadcode) && cd dev && \
	dead=$$("$$deadcode" -test -filter '^longhaul\b' ./... longhaul/...) || exit 1; \
	if [ -n "$$dead" ]; then echo "Not used by any program or test:"; echo "$$dead"; exit 1; fi

workflowcheck:
	@echo "== Determinism of the workflows"
	$(root) run $(workflowcheck) -test=false -config .workflowcheck.yaml ./workflows/...

# The Helm chart, rendered by Helm's own library, which takes two minutes to build.
chart:
	@echo "== Helm chart"
	cd deploy/helm/check && GOWORK=off go vet ./... && GOWORK=off go test -count=1 ./...

# All that the tests of the chart render, applied to a kube-apiserver beside etcd, which has to
# be installed. It takes some ten minutes to build; it is not part of check.
chart-install:
	@echo "== Helm chart on an API server"
	cd deploy/helm/apiserver && server=$$(GOWORK=off go tool -n kube-apiserver) && \
	cd ../check && GOWORK=off go test -count=1 -v . -args -apiserver "$$server"

# What "make release" does with programs, on a small one.
test-release:
	@echo "== Release"
	cd deploy/release && GOWORK=off go vet . && GOWORK=off go test -count=1 .

# The long forms of the tests with faults, in parts of hours. PROOF is a directory with what has
# passed: another run leaves that out, or adds to its sums. PROOFTIME is for the parts that have no
# end of their own. docs/proof.md says what they check.
PROOF     ?= $(CURDIR)/bin/proof
PROOFTIME ?= 1h
proof: proof-faults proof-power proof-nets proof-clocks proof-skew proof-chaos proof-bugs
	@awk '{s += $$1; n += $$2} END {printf "Passed: %d runs, %.1f hours, %d checked operations\n", NR, s/3600, n}' $(PROOF)/sums

# Calls of the database of Temporal fail, one method in one way after the other.
proof-faults:
	mkdir -p $(PROOF)/faults
	$(dev) test ./e2e/crash -run TestFaults -count=1 -v -parallel 2 -timeout 3h -args -faults $(PROOF)/faults -faults-for 8s -sums $(PROOF)/sums
	$(dev) test ./e2e/operator -run Faults -count=1 -v -timeout 1h -args -objectives 300 -acts 900
	$(dev) test ./e2e/operator -run 'TestMix$$' -count=1 -v -timeout 0 -args -mix $(PROOFTIME)

# Machines lose their power, and disks fail.
proof-power:
	mkdir -p $(PROOF)
	$(dev) test ./e2e/crash -run 'TestPower$$' -count=1 -v -timeout 0 -args -lives $(PROOFTIME) -lives-log $(PROOF)/power.log -sums $(PROOF)/sums

# Links between processes are slow, cut or silent, and packets vanish.
proof-nets:
	mkdir -p $(PROOF)
	$(dev) test ./e2e/crash -run '^TestNets' -count=1 -v -timeout 0 -args -lives $(PROOFTIME) -lives-log $(PROOF)/nets.log -sums $(PROOF)/sums

# Clocks differ by minutes, and jump.
proof-clocks:
	mkdir -p $(PROOF)
	$(dev) test ./e2e/crash -run '^TestClocks$$' -count=1 -v -timeout 0 -args -lives $(PROOFTIME) -lives-log $(PROOF)/clocks.log -sums $(PROOF)/sums

# Workers and API of two versions work together, and are replaced and killed.
proof-skew:
	mkdir -p $(PROOF)
	$(dev) test ./e2e/crash -run '^TestSkew$$' -count=1 -v -timeout 0 -args -lives $(PROOFTIME) -lives-log $(PROOF)/skew.log -sums $(PROOF)/sums

# Clients compete while processes are killed, and a checker judges what they have seen.
proof-chaos:
	mkdir -p $(PROOF)
	$(root) test -count=1 ./internal/witness
	$(dev) test ./e2e/crash -count=1 -v -run '^TestChaos$$' -timeout 6h -args -chaos $(PROOFTIME) -sums $(PROOF)/sums

# The checker notices each of the seeded bugs.
proof-bugs:
	mkdir -p $(PROOF)/bugs
	$(dev) test ./e2e/crash -count=1 -v -run '^TestSeededBugs$$' -timeout 6h -args -mutations -found $(PROOF)/bugs

# Seven parts, each beside a baseline in the same run; BENCH=-h lists the flags.
bench:
	go run ./dev/cmd/bench $(BENCH)

# The cost of the parts.
microbench:
	$(root) test -run '^$$' -bench . -benchmem ./...

# Record histories for shapes of work that have none yet.
record:
	go run ./dev/cmd/record

# Run each fuzz test for FUZZTIME; go runs one at a time.
fuzz:
	@grep -rl --include='*_test.go' --exclude-dir=dev '^func Fuzz' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "== $$name"; \
			$(root) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$file")" || exit 1; \
		done; \
	done

# The program without Temporal, and the one with Temporal built in.
build:
	$(root) build -trimpath -ldflags '-s -w' -o bin/longhaul ./cmd/longhaul
	$(dev) build -trimpath -ldflags '-s -w' -o ../bin/longhaul-dev .

# dev finds the root module through the workspace, which tidy does not use.
tidy:
	$(root) mod tidy
	cd dev && go mod edit -replace longhaul=../ && { GOWORK=off go mod tidy; status=$$?; go mod edit -dropreplace longhaul; exit $$status; }

# What is published, in bin/release: static binaries of both programs, archives of them with
# manual pages and completions, SBOMs, images for Linux, what installs them, and the checksums
# of all. The same commit makes the same files. VERSION=v0.1.0 sets the version that the
# programs show, URL the directory in which the files will be published, for what installs them;
# PLATFORMS must have the platform of this machine.
VERSION   ?= $(shell git describe --tags --always --dirty)
COMMIT    ?= $(shell git rev-parse HEAD)
TIME      ?= $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)
URL       ?=
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
linked    := longhaul/internal/process
release:
	rm -rf bin/release && mkdir -p bin/release
	@for platform in $(PLATFORMS); do \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		for program in ./cmd/longhaul ./dev; do \
			name=longhaul; export GOWORK=off; \
			if [ $$program = ./dev ]; then name=longhaul-dev; export GOWORK=; fi; \
			echo "== $$name for $$platform"; \
			go build -trimpath -buildvcs=false -ldflags '-s -w -X $(linked).Version=$(VERSION) -X $(linked).Commit=$(COMMIT) -X $(linked).Time=$(TIME)' \
				-o bin/release/$$name-$$GOOS-$$GOARCH $$program || exit 1; \
		done; \
	done
	@echo "== Archives, SBOMs, images, checksums"
	cd deploy/release && GOWORK=off go run . -root ../.. -dir ../../bin/release -version '$(VERSION)' -commit '$(COMMIT)' -time '$(TIME)' -platforms '$(PLATFORMS)' -url '$(URL)'
	cd deploy/release && GOWORK=off go test -count=1 . -args -published ../../bin/release

# Newer versions of what the modules require, and whether this Go can build them.
outdated:
	scripts/outdated

clean:
	rm -rf bin
