# The doors of the project. `make` alone lists them.

PREFIX ?= /usr/local
BUILD := build

.PHONY: help setup build run test check-c clients mpi4py osu agreement mpich-suite launchers app linkx-page qualify compare report book wheel deb rpm container packages install uninstall clean

help:
	@echo "make run                 build Catena and run the example on 4 ranks"
	@echo "make test                all tests; the last line counts them"
	@echo "make install PREFIX=dir  install into dir (default $(PREFIX); DESTDIR works)"
	@echo "make uninstall PREFIX=dir"
	@echo "make compare             speed next to MPICH, Intel MPI and Open MPI (ARGS=--quick)"
	@echo "make report              everything, with statistics: docs/report.html (ARGS=\"--quick\", or \"--for 1800\" for a part)"
	@echo "make book                the pages of docs as a site with a search: build/book/docs/index.html"
	@echo "make clients             mpi4py's own tests and a real application"
	@echo "make osu OSU_SRC=dir     the OSU micro-benchmarks with data validation"
	@echo "make agreement OSU_SRC=dir  the benchmarks' figures beside those of OSU's: docs/beside-omb.md"
	@echo "make mpich-suite MPICH_SRC=dir  the test suite of MPICH"
	@echo "make launchers PEERS=dir under the launchers of other MPI libraries and of Slurm"
	@echo "make linkx-page PEERS=dir  MPICH and Open MPI without a link, with LINKx, and as they are: build/linkx-page"
	@echo "make qualify             all of these over each network: docs/qualification.md (MPICH_SRC, OSU_SRC;"
	@echo "                         ARGS=--slice for a small part in minutes, as make test runs it)"
	@echo "make wheel               build/dist/catena-*.whl and catena_linkx-*.whl for pip (ARCH=aarch64 for that)"
	@echo "make deb                 build/dist/catena_*.deb for Debian and Ubuntu, likewise"
	@echo "make rpm                 build/dist/catena-*.rpm for Fedora, RHEL, SUSE and their like, likewise"
	@echo "make container           an image with Catena and a compiler (docker or podman)"
	@echo "make packages            tests of wheels, deb and rpm, in clean systems"
	@echo "make check-c             the C tests alone (ARGS=name for some of them)"
	@echo "make build               release build of the library and the launcher"
	@echo "make clean               removes build/ and target/"

setup:
	@scripts/setup base

build: setup
	cargo build --release -p catena-capi -p catena-mpich -p catena-openmpi -p catena-check -p catena-profiler -p catena-cli
	cargo rustc --release -p catena-linkx --lib --crate-type cdylib

$(BUILD)/prefix: build
	@scripts/install --quiet $(abspath $(BUILD)/prefix)

.PHONY: $(BUILD)/prefix

run: $(BUILD)/prefix
	@scripts/run-example $(BUILD)/prefix

test:
	@scripts/setup base python
	@# What cannot be installed is skipped, with its reason; ARGS=--no-skips forbids that.
	-@scripts/setup network
	-@scripts/setup packages
	-@scripts/setup browser
	-@scripts/setup fortran
	@scripts/test $(ARGS)

check-c: $(BUILD)/prefix
	@scripts/run-tests $(ARGS)

clients: mpi4py app

mpi4py: $(BUILD)/prefix
	@scripts/setup python
	@scripts/clients/mpi4py $(ARGS)

app: $(BUILD)/prefix
	@scripts/setup python
	@scripts/clients/mrbayes $(ARGS)

osu: $(BUILD)/prefix
	@scripts/clients/osu "$(OSU_SRC)" $(ARGS)

agreement: $(BUILD)/prefix
	@scripts/clients/beside-omb "$(OSU_SRC)" $(ARGS)

mpich-suite: $(BUILD)/prefix
	@scripts/clients/mpich-suite "$(MPICH_SRC)" $(ARGS)

launchers: $(BUILD)/prefix
	@scripts/clients/launchers "$(PEERS)" $(ARGS)

linkx-page: $(BUILD)/prefix
	@scripts/measure/linkx "$(PEERS)" --prefix "$(BUILD)/prefix" --page "$(BUILD)/linkx-page" $(ARGS)

qualify: $(BUILD)/prefix
	@scripts/setup python
	-@scripts/setup network
	@MPICH_SRC="$(MPICH_SRC)" HDF5_SRC="$(HDF5_SRC)" OSU_SRC="$(OSU_SRC)" scripts/qualify $(ARGS)

compare: $(BUILD)/prefix
	@scripts/setup python
	@scripts/compare $(ARGS)

report: $(BUILD)/prefix
	@scripts/setup python
	@scripts/report $(ARGS)

book:
	@scripts/setup python
	@scripts/book build

ARCH ?= $(shell uname -m)

wheel: setup
	@scripts/setup python
	@packaging/wheel/build --arch $(ARCH)
	@packaging/wheel/build --linkx --arch $(ARCH)

deb: setup
	@scripts/setup python
	@packaging/deb/build $(ARCH)

rpm: setup
	@scripts/setup python packages
	@packaging/rpm/build $(ARCH)

container: deb
	$(or $(shell command -v podman),docker) build -f packaging/container/Containerfile -t catena build/dist

packages: build
	@scripts/setup python packages
	@for kind in wheel linkx deb rpm mpi4py cmake module; do packaging/test $$kind || exit; done

install: build
	@DESTDIR="$(DESTDIR)" scripts/install "$(abspath $(PREFIX))"

uninstall:
	@DESTDIR="$(DESTDIR)" scripts/uninstall "$(abspath $(PREFIX))"

clean:
	rm -rf $(BUILD) target
