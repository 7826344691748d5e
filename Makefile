# make run    set everything up and open the window; without a display: play the demo
# make test   set everything up and run every kind of test, without a display; make test-all plays every case
# make help   the rest

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PICTURES := packaging/pictures
OFFSCREEN := QT_QPA_PLATFORM=offscreen
# Where make bench writes its figures
OUT ?= out/bench.json
# Options for the window: make run ARGS="--model PATH"
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test test-all check check-arm house soak bench gpu-check pictures translations package package-check clean setup packages

help:
	@echo "make run       set everything up and open the window (ARGS=\"--model PATH\" and so on)"
	@echo "make test      set everything up and run every kind of test, without a display (ARGS=\"-k history\" and so on)"
	@echo "make test-all  the same with every case, and with four times as many random examples"
	@echo "make check     format, lint, types, tests"
	@echo "make check-arm the compiled part built for ARM64, run under emulation and compared with numpy (gcc-aarch64-linux-gnu, qemu-user)"
	@echo "make house     a report on the folders of the code: sizes, imports, what is worth a look"
	@echo "make soak      the engine's random tests for half an hour (ARGS=\"--minutes 5 --seed 1\")"
	@echo "make bench     the measurements of tests/bench; API=1 those of the local server alone"
	@echo "make gpu-check what a computer with a GPU can tell, in eight minutes: out/gpu-check (ARGS=\"--minutes 3\" and so on)"
	@echo "make pictures  the pictures and the table of README.md, from the demo"
	@echo "make translations  the files of other languages brought up to date with the code, and built"
	@echo "make package   the installers for this system, in dist/: about ten minutes, 5 GB, no root"
	@echo "make package-check  what was made, looked at and played: five minutes, no root. ARGS=\"--chroot bookworm\" installs it in a"
	@echo "               bare Debian (root, debootstrap, some minutes more), --twice builds again and compares (ten minutes more)"
	@echo "make clean     remove .venv and all that was built; models and conversations stay"

run: setup
	@case "$(ARGS)" in *--model*) ;; *) $(BIN)/headstart fetch ;; esac
	@if $(BIN)/python -c 'import sys; from app.command.system_packages import has_display; sys.exit(not has_display())'; then \
		exec $(BIN)/headstart $(ARGS); \
	else \
		echo "There is no display here, so the demo runs without one; it leaves pictures and a table in out/demo."; \
		exec $(BIN)/headstart demo --offscreen --out out/demo $(ARGS); \
	fi

# Compiled tests are kept, whatever the caller's habits: to compile them anew takes each process four seconds.
test: setup
	@$(BIN)/headstart fetch
	$(OFFSCREEN) PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(ARGS)

test-all: setup
	@$(MAKE) --no-print-directory test ARGS="--deep $(ARGS)"

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory test

check-arm: setup
	@$(BIN)/python -m tests.engine.native.check_arm

house: setup
	@$(BIN)/python -m tests.house

soak: setup
	$(BIN)/python -m tests.engine.soak $(ARGS)

bench: setup
	@$(BIN)/headstart fetch
	$(OFFSCREEN) $(BIN)/python -m tests.bench --out $(OUT) $(if $(API),--only api)

gpu-check: setup
	@$(BIN)/headstart fetch
	$(OFFSCREEN) $(BIN)/python -m tests.gpu_check $(ARGS)

pictures: setup
	$(BIN)/headstart demo --offscreen --turns 8 --out out/pictures
	$(BIN)/headstart demo --offscreen --script typing --out out/typing
	@mkdir -p $(PICTURES)
	cp out/typing/window-light.png out/typing/window-dark.png out/pictures/charts-light.png $(PICTURES)/
	@large=$$(find $(PICTURES) -name '*.png' -size +300k); test -z "$$large" || { echo "over 300 kB: $$large"; exit 1; }
	$(BIN)/python packaging/fill_readme.py out/pictures/report.json

translations: setup
	$(BIN)/python packaging/translations.py

package:
	$(PYTHON) packaging/build_packages.py

package-check:
	$(PYTHON) packaging/check_packages.py $(ARGS)

clean:
	rm -rf .venv build dist out engine/*.so tests/engine/gpu/*.so *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find app engine resources tests packaging -name __pycache__ -type d -prune -exec rm -rf {} +

setup: packages $(STAMP)

# Only the window needs what belongs to a display.
test test-all check check-arm house soak bench gpu-check pictures translations: PACKAGES := --offscreen

packages:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Headstart needs Python 3.11 or newer, and '$(PYTHON)' is not: install one, or name it: make run PYTHON=python3.12" >&2; \
		exit 1; }
	@$(PYTHON) -m app.command.system_packages $(PACKAGES)

# The stamp is written last: a set-up that was broken off is done again. It is also newer than pyproject.toml and the C
# files, so that new dependencies are installed the next time, and what was changed in C is built.
$(STAMP): pyproject.toml $(wildcard engine/native/*) | packages
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]' $$($(BIN)/python packaging/pick_torch.py)
	@touch $@
