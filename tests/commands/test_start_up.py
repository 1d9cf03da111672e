"""Commands that read only lists start without the packages that take long to import."""

import subprocess
import sys

import pytest

SLOW = {"scipy.ndimage", "scipy.sparse", "scipy.spatial", "scipy.interpolate", "pandas", "bpy",
        "mimegen.readers.fbx"}
# What performs and renders takes, which lists need nothing of.
UNLISTED = {"mimegen.plan.permute.factors", "mimegen.library.takes"}
PROGRAM = """
import sys
from click.testing import CliRunner
from mimegen.cli import main
result = CliRunner().invoke(main, sys.argv[1:])
assert result.exit_code == 0, result.output
print(*sorted(sys.modules))
"""


@pytest.mark.parametrize("command", [["list", "actions"], ["list", "sets"], ["plan", "--help"]],
                         ids=" ".join)
def test_a_command_that_reads_only_lists_imports_no_slow_package(command):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *command], check=True,
                          capture_output=True, text=True)
    imported = set(done.stdout.split())
    assert "mimegen.cli" in imported
    assert not SLOW & imported
    if command[0] == "list":
        assert not UNLISTED & imported
