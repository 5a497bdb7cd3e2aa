# Everything that is done with this tree, by one name each. make alone lists the names.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

MODULES  := libs gateway services/identity services/tenant services/patient services/attachment services/matching tools
PROGRAMS := ./gateway/cmd/gateway $(foreach s,identity tenant patient attachment matching,./services/$(s)/cmd/$(s))
PACKAGES := $(foreach m,$(MODULES),./$(m)/...)

VERSION := $(shell git describe --always --dirty --tags 2>/dev/null || echo development)
LDFLAGS := -X github.com/patient-mesh/patient-mesh/libs/run.Version=$(VERSION)

# One set of flags for building, vetting and linting: others would make Go compile every package once more.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# The race detector needs a C compiler. Its packages are a second set, shared by the tests and the programs under test.
# What it watches ends with a pause, for races of the last moment: one second unless told, of each package's test and of each
# program of each mesh.
CC_FOUND := $(shell command -v gcc || command -v clang || command -v cc)
RACE := $(if $(CC_FOUND),CGO_ENABLED=1 GOFLAGS=-buildvcs=false GORACE=atexit_sleep_ms=100,)
RACE_FLAG := $(if $(CC_FOUND),-race,)
# The race detector's build leaves the clouds' blob stores out: their libraries take longer to compile than all else
# together. Their tests run without it.
TEST_TAGS := -tags localblobs

# The race detector makes tests several times as long to link and to run. It looks where things happen at the same time: at
# the whole mesh under the end-to-end tests, and at what the programs share. These packages' tests do one thing after the other.
CALM := /(linkage|store|rest|api|cmd|synth|load|bench|matchbench|browser|chart|deploy|example|image|setup|smoke)(/|$$)
# What waits most comes first, so that the others have the processors meanwhile.
RACED_PACKAGES = ./tools/e2e $$(go list $(PACKAGES) | grep -vE '$(CALM)|/tools/e2e$$')
CALM_PACKAGES  = $$(go list $(PACKAGES) | grep -E '$(CALM)')

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|' 2>/dev/null || grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST)

.PHONY: run
run: build ## start the whole mesh on this machine; Ctrl-C stops it
	@exec bin/mesh

.PHONY: build
build: ## build the six programs and the local mesh into bin/, static, with their version
	@mkdir -p bin
	go build -ldflags '$(LDFLAGS)' -o bin/ $(PROGRAMS) ./tools/mesh/cmd/mesh

.PHONY: test
test: build check-generated check-alone lint unit ## all checks: tests on real databases with the race detector, lint (go vet is part of it), generated files

.PHONY: unit
unit: build race-programs ## only the tests
	@$(if $(CC_FOUND),,echo 'no C compiler here: the tests run without the race detector')
	@# As on an engine of many nodes, where there is no feed of changes.
	TEST_DISTRIBUTE=citus bin/mesh env -- go test -vet=off -skip '^Test.*(Feed|Reader|Positions|Changed)' $(foreach s,attachment patient tenant,./services/$(s)/store)
	@# The detector's shadow memory hides what a program holds: that bound is looked at in the programs as they are shipped.
	MESH_BIN_DIR=$(CURDIR)/bin bin/mesh env -- go test -vet=off -run 'Test(Content|Import)OfItsOwnMesh/memory' ./tools/e2e
	MESH_BIN_DIR=$(CURDIR)/bin bin/mesh env -- go test -vet=off -timeout 10m $(CALM_PACKAGES)
	$(RACE) MESH_BIN_DIR=$(CURDIR)/$(if $(CC_FOUND),.bin/race,bin) bin/mesh env -- go test $(RACE_FLAG) $(TEST_TAGS) -vet=off -timeout 10m $(RACED_PACKAGES)

.PHONY: test-charts
test-charts: ## check the Helm charts: schemas, a matrix of values, policies (HELM, KUBECONFORM with KUBE_SCHEMAS, KUBE_SCORE, HELM_DOCS or PATH)
	@if [ -z "$(CHARTS_HELM)" ]; then echo 'helm is not on this machine (HELM or PATH): the charts are not checked'; else \
		go test -vet=off -count=1 ./tools/deploy/charts; fi

CHARTS_HELM = $(or $(HELM),$(shell command -v helm))

.PHONY: test-cluster
test-cluster: ## install the mesh in the cluster that kubectl talks to, and roll, roll back and evict it under load
	@tools/deploy/cluster/test.sh

.PHONY: chart-docs
chart-docs: ## write the README of each chart anew from its values (HELM_DOCS or PATH)
	@for c in service redis postgres; do $(or $(HELM_DOCS),helm-docs) --chart-search-root charts/$$c --sort-values-order file --log-level error; done
	@$(or $(HELM_DOCS),helm-docs) --chart-search-root charts/patient-mesh --sort-values-order file --log-level error --ignore-non-descriptions

.PHONY: race-programs
race-programs: # what the end-to-end tests start
	@mkdir -p .bin/race
	@$(if $(CC_FOUND),$(RACE) go build -race $(TEST_TAGS) -ldflags '$(LDFLAGS)' -o .bin/race/ $(PROGRAMS),true)

.PHONY: lint
lint: .bin/golangci-lint ## golangci-lint over all modules
	.bin/golangci-lint run $(PACKAGES)

.PHONY: format
format: .bin/gofumpt ## format all hand-written Go files
	@git ls-files --cached --others --exclude-standard '*.go' ':!*.gen.go' | xargs .bin/gofumpt -w

.PHONY: check-alone
check-alone: # each module builds without the workspace; to list what was compiled compiles it and links no program
	@for m in $(MODULES); do (cd $$m && GOWORK=off go list -export ./... >/dev/null) || exit 1; done

.PHONY: generate
generate: .bin/oapi-codegen .bin/msgp ## generate server code, the merged API document and wire formats from their sources
	@for m in $(MODULES); do (cd $$m && go generate ./...) || exit 1; done

.PHONY: check-generated
check-generated: ## fail when a generated file is not what its source gives
	@before="$$($(GENERATED_SUMS))"; $(MAKE) --no-print-directory generate; after="$$($(GENERATED_SUMS))"; \
	if [ "$$before" != "$$after" ]; then \
		diff <(echo "$$before") <(echo "$$after") || true; \
		echo 'these generated files were stale (they are written anew: commit them)'; exit 1; fi

GENERATED_SUMS = git ls-files --cached --others --exclude-standard '*.gen.go' 'gateway/docs/openapi.json' | sort | xargs -r sha256sum 2>/dev/null || true

.PHONY: bench
bench: build ## measure the mesh side by side with nginx and pgbench: make bench ARGS='--only read'
	go build -o bin/ ./tools/bench/cmd/bench
	bin/bench $(if $(ARGS),$(ARGS),--out tools/bench/RESULTS.md)

.PHONY: bench-match
bench-match: build ## measure how good and how fast find is: make bench-match ARGS='--only accuracy --sets febrl3'
	go build -o bin/ ./tools/matchbench/cmd/matchbench
	bin/matchbench $(if $(ARGS),$(ARGS),--out tools/matchbench)

.PHONY: load
load: ## put a CSV of people into the running mesh: make load FILE=people.csv ARGS=--verify
	@test -n "$(FILE)" || { echo 'usage: make load FILE=people.csv'; exit 2; }
	@mkdir -p bin
	go build -o bin/ ./tools/load/cmd/load
	bin/load $(ARGS) "$(FILE)"

.PHONY: train
train: ## train the matching model of the running mesh's first tenant: make train ARGS=--activate
	@mkdir -p bin
	@go build -o bin/ ./tools/load/cmd/load
	@bin/load train $(ARGS)

.PHONY: synth
synth: ## make people up, with their truth: make synth ARGS='--people 1000 --duplicated 0.2 --out people.ndjson --truth truth.tsv'
	@mkdir -p bin
	@go build -o bin/ ./tools/synth/cmd/synth
	@bin/synth $(ARGS)

.PHONY: example
example: ## start the example application beside the running mesh: launch it from the account page
	@mkdir -p bin
	@go build -o bin/ ./tools/example/cmd/example
	@exec bin/example $(ARGS)

# What the images are called, and what they say of themselves. IMAGE_AUTHORITIES, a PEM file, takes the place of the authorities
# that Mozilla's list has.
IMAGE_PREFIX  ?= patient-mesh
IMAGE_TAG     ?= local
IMAGE_CREATED := $(shell git show -s --format=%cI HEAD 2>/dev/null || echo 1970-01-01T00:00:00Z)
IMAGE_ENV      = IMAGE_PREFIX='$(IMAGE_PREFIX)' IMAGE_TAG='$(IMAGE_TAG)' IMAGE_VERSION='$(VERSION)' IMAGE_CREATED='$(IMAGE_CREATED)' \
	IMAGE_REVISION='$(shell git rev-parse HEAD 2>/dev/null || echo unknown)'

.PHONY: images
images: ## build the container images of the six programs, and of what prepares and checks a mesh, without a network
	@docker compose version >/dev/null 2>&1 || { echo 'make images needs Docker with Compose v2'; exit 1; }
	go run ./tools/image/cmd/image -out .bin/image -version '$(VERSION)' -authorities '$(IMAGE_AUTHORITIES)'
	@$(IMAGE_ENV) IMAGE_CONTEXT='$(CURDIR)/.bin/image' IMAGE_DOCKERFILE='$(CURDIR)/compose/Dockerfile' IMAGE_BINARIES=prebuilt \
		docker compose -f compose/compose.yaml --profile full --profile check build
	@for p in gateway identity tenant patient attachment matching setup smoke; do \
		docker tag '$(IMAGE_PREFIX)'/$$p:'$(IMAGE_TAG)' '$(IMAGE_PREFIX)'/$$p:'$(VERSION)'; done
	@docker images --format 'table {{.Repository}}:{{.Tag}}\t{{.Size}}' | grep -E "^REPO|^$(IMAGE_PREFIX)/.*:$(IMAGE_TAG)[[:space:]]"

.PHONY: test-deploy
test-deploy: test-charts ## deploy the mesh with Docker Compose, call it, break it, take it down and up; and test-charts: each skipped where its tools are missing
	@if docker version >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; then \
		$(MAKE) --no-print-directory images && DEPLOY_TEST=1 go test -vet=off -count=1 -v -timeout 45m ./tools/deploy; \
	else echo 'test-deploy: skipped, since there is no Docker engine with Compose here'; fi

.PHONY: tidy
tidy: ## go mod tidy in all modules, with one version of each library
	@for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy) || exit 1; done
	go work sync

.PHONY: clean
clean: ## remove what was built (not the local mesh's data in .mesh)
	rm -rf bin .bin

# Tools, built at the versions that tools/dev/go.mod names.
.bin/%: tools/dev/go.mod tools/dev/go.sum
	@mkdir -p .bin
	@cd tools/dev && GOWORK=off go build -o ../../.bin/$* $$(GOWORK=off go list -f '{{.ImportPath}}' tool | grep -E '/$*$$')
