# SPDX-License-Identifier: GPL-2.0-only
#
# Front door. `make help` lists the targets.
#
# Kernel modules are built in a farm of symbolic links, one per kernel release,
# at $(BUILD)/<release>/modules: real directories, linked files. The checkout
# stays clean and several kernels live side by side.

BUILD	?= build
KVER	?=
W	?=
C	?=
STRICT	?=
TESTS	?=
MINUTES	?= 30
SEED	?=
OLD	?=
NEW	?=

build_dir := $(abspath $(BUILD))
jobs	  := $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
kbuild_for = tools/kbuild -b $(build_dir) -k "$(KVER)" $(1) -- $(jobs) \
	     $(if $(STRICT),W=1 C=1 KCFLAGS=-Werror CF=-Wsparse-error,$(if $(W),W=$(W)) $(if $(C),C=$(C)))
kbuild	   = $(call kbuild_for,)

.PHONY: all modules test-modules tools check fuzz lint test test-all test-interop soak bench bench-compare deb dist docs demo help clean FORCE
all: modules

## modules	Build the kernel modules: build/<release>/modules/*.ko (default)
modules:
	+@tools/deps build
	+@$(if $(C)$(STRICT),tools/deps lint)
	+@$(kbuild) modules

## test-modules	Build the modules that only tests use: build/<release>/selftests/*.ko
test-modules: modules
	+@tools/deps build
	+@$(call kbuild_for,-t) modules

# One object, as in `make drivers/infiniband/ulp/rtrs/proto/wire.o`.
drivers/%.o: FORCE
	+@tools/deps build
	+@$(if $(C)$(STRICT),tools/deps lint)
	+@$(kbuild) $@

## tools		Build the command-line tools: build/tools/rnbd, build/tools/rtrs-perf
tools:
	@tools/deps tools
	@$(MAKE) -s -C tools/rnbd
	@$(MAKE) -s -C tools/rtrs-perf

## check	Run the unit tests of the pure code, the tools and the bench in user space, under 30 s
check: tools
	@tools/deps check
	@$(MAKE) -s -C selftests/unit check
	@$(MAKE) -s -C tools/rnbd check
	@$(MAKE) -s -C tools/rtrs-perf check
	@cd selftests/bench && python3 -B test_figures.py

## fuzz		Run the decoders against libFuzzer without end, in user space
fuzz:
	@tools/deps fuzz
	@$(MAKE) -s -C selftests/fuzz fuzz

## lint		Layers, headers, kernel-doc, messages, attributes, compat, SPDX, prose, W=1 and sparse
lint:
	@tools/deps build lint
	@BUILD=$(build_dir) selftests/lint/run

## test		lint, check, docs, fuzz for a minute, then the VM selftests (selftests/matrix: 6.12, 6.1, newest)
test:
	@tools/deps build check docs fuzz lint vm interop
	@BUILD=$(build_dir) selftests/vm/run --tier test --kver "$(KVER)" --tests "$(TESTS)"

## test-all	The same with the slow tests too
test-all:
	@tools/deps build check docs fuzz lint vm interop
	@BUILD=$(build_dir) selftests/vm/run --tier all --kver "$(KVER)" --tests "$(TESTS)"

## test-interop	Our modules with mainline's, as client and server, on each kernel of make test
test-interop:
	@tools/deps build vm interop
	@BUILD=$(build_dir) selftests/vm/run --vm-only --tier test --kver "$(KVER)" --tests "$(or $(TESTS),interop)"

## soak		Everything goes wrong at random, and data are verified: MINUTES=30, SEED=
soak:
	@tools/deps build vm
	+@$(MAKE) -s modules test-modules tools KVER="$(or $(KVER),6.12)"
	@BUILD=$(build_dir) KVER="$(or $(KVER),6.12)" selftests/vm/tests/soak.py $(MINUTES) $(SEED)

## bench		Instructions per I/O of ours and of others: build/bench/results.json
bench:
	@tools/deps python3
	@BUILD=$(build_dir) selftests/bench/bench.py $(if $(KVER),--kver "$(KVER)")

## bench-compare	What differs between two results: make bench-compare OLD=a.json NEW=b.json
bench-compare:
	@tools/deps python3
	@selftests/bench/compare.py "$(OLD)" "$(NEW)"

## deb		Build the Debian packages: build/deb/*.deb
deb:
	@tools/deps build deb
	@tools/deb $(build_dir)/deb

## dist		Make the source tarball, for rpmbuild -ta too: build/dist/*.tar.gz
dist:
	@tools/dist $(build_dir)/dist

## docs		Build the documentation as HTML: build/docs/index.html
docs:
	@tools/deps docs
	@sphinx-build -q -E -n -W --keep-going -b html -d $(build_dir)/docs/.doctrees Documentation $(build_dir)/docs
	@echo $(build_dir)/docs/index.html

## demo		Two VMs, two networks, one block device, one network cut
demo:
	@tools/deps build vm
	@BUILD=$(build_dir) selftests/vm/demo --kver "$(KVER)"

## clean	Remove everything that was built
clean:
	rm -rf $(build_dir)
	@$(MAKE) -s -C selftests clean
	@$(MAKE) -s -C tools/rnbd clean
	@$(MAKE) -s -C tools/rtrs-perf clean

## help		This text
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
	@echo
	@echo "KVER=<kernel>          kernel to build or test for, as 6.1 or 6.1.0-50-amd64, 6.12-deb13 is that of"
	@echo "                       Debian 13, newest the newest of its backports, 6.12-rt one with PREEMPT_RT;"
	@echo "                       6.12-debug is one with KASAN, lockdep and so on, 6.12-kcsan one"
	@echo "                       that finds data races, 6.12-rtdebug one with PREEMPT_RT and lockdep;"
	@echo "                       each is built once"
	@echo "W=1 C=1                more warnings, sparse"
	@echo "STRICT=1               both, and each warning is an error"
	@echo "TESTS=<pattern>        run only the tests whose name matches (shell pattern)"
	@echo "MINUTES=<n> SEED=<n>   how long make soak takes; to repeat one"
	@echo "OLD=<file> NEW=<file>  results.json of two runs of make bench"
	@echo "BUILD=<dir>            where to build (default: build)"
