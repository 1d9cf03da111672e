# Blender (bpy) has wheels for these Pythons and for no other.
RIGHT := import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))
PYTHON ?= $(shell for name in python3.11 python3.13 python3; do \
	$$name -c '$(RIGHT)' 2>/dev/null && echo $$name && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
OUT ?= demo
# Hundreds of processes of demo and tests would compile all modules, each for itself.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test quick scores check docs bench mutants lock release-check clean

# .venv with mimegen, editable, and all that tests need, in the releases of requirements.lock.
setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml requirements.lock tools/system_libraries.sh
	@"$(PYTHON)" -c '$(RIGHT)' 2>/dev/null || { echo "make installs mimegen with Blender, which has wheels for" \
		"Python 3.11 and 3.13 only; install one beside yours and say: make PYTHON=/path/to/python3.13"; exit 1; } >&2
	@echo "installing mimegen, Blender and the tools for tests into $(VENV); this takes a few minutes"
	@echo "1/4: make the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "2/4: download and install $$(grep -c == requirements.lock) packages, Blender among them: the longest step"
	@$(PIP) install --no-deps --require-hashes -r requirements.lock
	@echo "3/4: install and compile mimegen"
	@$(PIP) install --no-deps -e .
	@$(BIN)/python -m compileall -q generator
	@echo "4/4: look for the system libraries that Blender needs"
	@tools/system_libraries.sh $(BIN)/python
	@echo "mimegen is installed; activate it with: . $(BIN)/activate"
	@touch $@

# The ten variants of one action, with a gallery: make demo OUT=folder
demo: setup
	$(BIN)/mimegen render --action basketball --variants all --out $(OUT)

# All tests; a file is run by one process, so that it makes what its tests share once.
test: setup
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# Tests that need neither Blender nor OpenGL nor a browser, with few examples: is a change sane?
quick: setup
	$(BIN)/python -m pytest -m fast --hypothesis-profile quick --numprocesses 2 --dist loadfile

# Performs and lints every score of the library: some ten minutes on two cores.
scores: setup
	ls -d mocap/*/ | xargs -P 2 -n 20 $(BIN)/mimegen score lint

# Style, types, and that rooms import only rooms below them.
check: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as a site in site/, with every dead link an error; no network but to install.
docs: setup
	$(PIP) install -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Small faults in the code, and how many of them the tests notice: make mutants ROOM=compositing SAMPLE=40
mutants: setup
	$(PIP) install -e '.[test,mutants]'
	$(BIN)/python tools/mutants.py $(ROOM) $(if $(SAMPLE),--sample $(SAMPLE))

# The paper's pipeline beside ours, errors, scaling, throughput: some 40 minutes on two quiet cores.
bench: setup
	$(BIN)/python benchmarks/matrix.py --write
	$(BIN)/python benchmarks/quality.py --write
	$(BIN)/python benchmarks/scaling.py --write
	$(BIN)/python benchmarks/throughput.py --write

# requirements.lock anew, with the newest releases that pyproject.toml allows, or of NAMES="a b" only;
# then make setup test, on both Pythons.
lock: setup
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip --quiet --disable-pip-version-check install 'uv>=0.5,<1'
	tools/lock.sh $(CURDIR)/$(VENV)/lock/bin/uv $(NAMES)

# sdist and wheel, built, checked for PyPI and run in a fresh environment without Blender: some minutes.
release-check:
	tools/release_check.sh $(PYTHON)

clean:
	rm -rf $(VENV) demo out .pytest_cache .mypy_cache .ruff_cache
