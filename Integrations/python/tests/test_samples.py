"""The samples of the documentation."""

import ast
import importlib
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
SAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def test_the_documentation_has_samples() -> None:
    assert len(SAMPLES) >= 4


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_compiles_and_imports_names_that_exist(sample: str) -> None:
    tree = ast.parse(sample)
    compile(tree, str(README), "exec")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names)
