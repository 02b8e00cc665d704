# The recipes of feedmesh. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

export CGO_ENABLED := "0"

# with it packages compile once for all: for tests and releases, and for the previous version that tests build
export GOFLAGS := env("GOFLAGS", "") + " -trimpath"

version := `git describe --tags --always --dirty 2>/dev/null || echo dev`

_list:
    @just --list --unsorted

# the program, for this machine, in bin/
build:
    go build -ldflags "-X main.version={{ version }}" -o bin/agent ./agent

# the files of a release, in bin/release/: the program for every system it is made for as an archive, for Debian and Red Hat systems as a package, with the licences of its modules, SBOMs (CycloneDX), provenance (SLSA) and checksums
release:
    rm -rf bin/release
    mkdir -p bin/release
    for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do \
        echo "$target"; GOOS=${target%/*} GOARCH=${target#*/} go build -ldflags "-s -w -X main.version={{ version }}" \
            -o "bin/agent-${target/\//-}" ./agent; \
        go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 bin -json -output "bin/release/agent-${target/\//-}.cdx.json" "bin/agent-${target/\//-}"; \
    done
    go run ./tools/provenance bin/agent-{linux-amd64,linux-arm64,darwin-amd64,darwin-arm64,windows-amd64} > bin/release/provenance.json
    go run ./tools/licences ./agent > bin/release/LICENCES.md
    deploy/packages/build "{{ version }}" bin bin/release

# the program for the systems whose code differs from this one's, to see that it builds
build-others:
    for system in darwin windows; do GOOS=$system go build -o /dev/null ./agent; done

# one node, its data in ./data
run *flags:
    go run ./agent {{ flags }}

# fast tests of the program, no engines: about a minute on two cores. Linkers and tests that collect garbage seldom take a seventh less time
quick:
    go vet ./...
    env $(tests/tmpdir) GOGC=400 go test -vet=off -short -p 4 -parallel 8 $(go list ./... | grep -vE '/tests|/deploy|/tools')

# what the race detector is of no use for, or has no time for: code that shares nothing, long simulations; of whole nodes it sees those that do not run for long
unraced := "/opml|/role/parse/feed|/role/crawl/page|/schedule/policy|/classify|/tools"

# SQLite is C that was translated to Go and shares nothing: with the detector it takes ten times as long; its driver, and so a connection that two goroutines use, stays checked
race := "-race -parallel 2 '-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false'"

# whole nodes: faults, a browser, golden queries, a NATS server that reloads (not ours to mend), programs; the longest first
nodes := "./tests/faults ./tests/... ./deploy/..."

# everything; what CI calls. Whole nodes run after all else: beside it they and the tests with time limits wait for the processors, and fail
test: engines
    #!/usr/bin/env bash
    set -uo pipefail
    failed=0
    {{ just_executable() }} lint test-packages build-others || failed=1
    {{ just_executable() }} test-nodes || failed=1
    tests/vulnerabilities --again
    exit $failed

# tests of whole nodes, one package after the other: faults have time limits; lint vets them
test-nodes:
    env $(tests/tmpdir) go test -vet=off -p 1 -timeout 30m -parallel 3 {{ nodes }}

# tests of all packages, with the race detector where it is of use, and of the tools
test-packages:
    env $(tests/tmpdir) CGO_ENABLED=1 go test -vet=off {{ race }} -timeout 30m -skip '^TestDamage_' $(go list ./... | grep -vE '{{ unraced }}|/tests|/deploy')
    go test -vet=off -timeout 20m -run '^TestDamage_' ./agent/mesh ./agent/node ./storage/... # a hundred damaged files each; bbolt follows damaged offsets anywhere
    CGO_ENABLED=1 go test -vet=off {{ race }} -timeout 30m -short -skip '^TestClean' ./tests ./tools/simulate/schedule
    go test -vet=off -timeout 20m $(go list ./... | grep -E '{{ unraced }}')
    go test -C tools/bench -vet=off ./...

# break a mesh of real servers in every way there is, each for so long: prints a table
faults time="10m" *flags: engines
    go test -timeout 24h -v ./tests/faults -faults.for {{ time }} {{ flags }}

# the same at random for so long, under load, with quiet times between: prints a ledger; -faults.seed has it happen again
soak time="1h" *flags: engines
    go test -timeout 0 -v ./tests/faults -run Soak -soak.for {{ time }} {{ flags }}

# the source's plan for 50,000 feeds on 5,000 hosts, on a clock 60 times faster
plan time="3m" *flags:
    go test -timeout 2h -v ./tests -run ThePlan -plan.feeds 50000 -plan.hosts 5000 -plan.for {{ time }} -plan.spacing 2s -plan.timed {{ flags }}

# a picture of each page of the console, in light, dark and narrow, under ./screenshots
screenshots:
    mkdir -p screenshots
    go test -artifacts -outputdir "$PWD/screenshots" ./tests/browser -run 'Pages'

# all real headlines there are, through a whole node: prints the top stories of three days
headlines:
    go test -timeout 2h -v ./tests -run Headlines -headlines.days 0

# what tests need beside Go and Node
engines:
    tests/engines/install

# formatting, vet, staticcheck, known vulnerabilities
lint:
    test -z "$(gofmt -l .)" || { gofmt -l .; echo "not formatted: run just fmt"; exit 1; }
    go vet ./...
    go tool staticcheck ./...
    go vet -C tools/bench ./...
    go vet -C deploy/helm/check ./...
    tests/vulnerabilities

# format all code
fmt:
    gofmt -w .

# each fuzz target for a while: just fuzz 10m
fuzz time="1m":
    go list -f '{{{{.ImportPath}}' ./... | while read -r pkg; do \
        go test "$pkg" -list '^Fuzz' | grep '^Fuzz' | while read -r target; do \
            echo "$pkg $target"; go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime {{ time }} -fuzzminimizetime 10x; \
        done; \
    done

# how fast it is: prints a table; without names of parts (bench -h lists them) the whole suite, kept under tools/bench/results
bench *args: engines
    go -C tools/bench run . {{ args }}
