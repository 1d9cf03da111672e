PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo

.PHONY: setup demo test check bench mutants clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml tools/system_libraries.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo "mimegen needs Python 3.11 (bpy 5.0.1 has no other); say make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	tools/system_libraries.sh $(BIN)/python
	@touch $@

demo: setup
	$(BIN)/mimegen render --action basketball --variants all --out $(OUT)

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Small faults in the code, and how many of them the tests notice: make mutants ROOM=compositing SAMPLE=40
mutants: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,mutants]'
	$(BIN)/python tools/mutants.py $(ROOM) $(if $(SAMPLE),--sample $(SAMPLE))

# The paper's pipeline beside ours, errors, scaling, throughput: some 40 minutes on two quiet cores.
bench: setup
	$(BIN)/python benchmarks/matrix.py --write
	$(BIN)/python benchmarks/quality.py --write
	$(BIN)/python benchmarks/scaling.py --write
	$(BIN)/python benchmarks/throughput.py --write

clean:
	rm -rf $(VENV) demo out .pytest_cache .mypy_cache .ruff_cache
