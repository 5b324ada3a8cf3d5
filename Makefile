# SPDX-License-Identifier: Apache-2.0
#
# Thin words over CMakePresets.json. `make run` shows what Steelyard does, `make test` checks that it does.
MODEL ?= examples/bert-base-mlm-b4-s128.pt2
STEELYARD := build/release/steelyard
VENV := .venv/bin

.PHONY: run build package wheel engine test sanitize bench fuzz format lint docs

run: build
	$(STEELYARD) weigh $(MODEL)

build:
	tools/install_debian.sh build
	cmake --preset release
	cmake --build --preset release

# The Python package, into the virtual environment of the tests.
package: .venv/ready
	tools/install_debian.sh build
	cmake --preset python
	cmake --build --preset python
	cmake --install build/release --component python --prefix \
	  $$($(VENV)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

# The package for machines without the Debian packages: an sdist and a wheel, in dist/. The engine is
# not in it, for it is of one PyTorch: `make engine` puts it beside a package, or STEELYARD_ENGINE names it.
wheel:
	tools/install_debian.sh build
	tools/make_wheel.sh dist

# The engine, beside the program, for the PyTorch of the tests; STEELYARD_TORCH=python3 names another.
# Where that Python has Steelyard's package the engine is put beside it, too, which then finds it.
STEELYARD_TORCH ?= $(CURDIR)/$(VENV)/python
engine: .venv/ready
	tools/install_debian.sh build
	cmake --preset engine -DSTEELYARD_TORCH=$(STEELYARD_TORCH)
	cmake --build --preset engine
	packages=$$($(STEELYARD_TORCH) -c 'import sysconfig; print(sysconfig.get_path("platlib"))') && \
	  if [ -e "$$packages"/steelyard ]; then \
	    cmake --install build/release --component engine --prefix "$$packages"; fi

test: package engine
	tools/install_debian.sh build test
	cmake --preset test
	cmake --build --preset test
	ctest --preset test

# The unit tests, the golden tests and the corpora of the fuzzers, with the sanitizers of addresses and of undefined behaviour.
sanitize:
	tools/install_debian.sh build test
	cmake --workflow --preset dev

# Beside the tools that people use, in one run (bench/static, bench/files), how it grows (bench/scale), and
# running beside eager PyTorch (bench/engine).
bench: build engine .venv/ready
	tools/install_debian.sh bench
	$(VENV)/python -m pip install --quiet --requirement requirements/bench.txt
	cmake --build --preset release --target floor built
	$(VENV)/python bench/static/bench.py
	$(VENV)/python bench/files/bench.py
	$(VENV)/python bench/scale/bench.py
	$(VENV)/python bench/engine/bench.py
	$(VENV)/python bench/fit/bench.py

# Each importer for FUZZ_SECONDS, starting from fuzz/corpus and the models in examples/.
FUZZ_SECONDS ?= 60
fuzz:
	tools/install_debian.sh build fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	mkdir -p build/fuzz/corpus
	for name in $$(ls fuzz/corpus); do \
	  mkdir -p build/fuzz/corpus/$$name; \
	  build/fuzz/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -max_len=65536 \
	    build/fuzz/corpus/$$name fuzz/corpus/$$name examples || exit 1; \
	done

# The documentation that is generated from the program.
docs: build
	python3 tools/gen_docs.py --binary $(STEELYARD)

format: .venv/ready
	$(VENV)/python tools/check_format.py --fix

lint: .venv/ready
	$(VENV)/python tools/check_format.py
	$(VENV)/ruff check tools tests bench python
	$(VENV)/mypy
	$(VENV)/python tools/check_layers.py
	$(VENV)/python tools/house_score.py
	cmake --preset dev
	git ls-files '*.cc' | grep '^src/' | \
	  xargs -P 2 -n 4 $(VENV)/clang-tidy -p build/dev --quiet 2> build/clang-tidy.log || \
	  { grep -v 'warnings generated\|Processing file' build/clang-tidy.log; exit 1; }

.venv/ready: tools/make_venv.sh tools/cpu_torch.py requirements/test.txt requirements/lint.txt
	tools/install_debian.sh build test
	tools/make_venv.sh .venv
	touch $@
