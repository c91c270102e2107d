"""Loads scripts without a suffix, for tests of their parts."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
# What scripts import from beside them.
sys.path[:0] = [str(SCRIPTS / "testing"), str(SCRIPTS / "clients")]


def script(name):
    """A script as a module; its name is relative to the folder of scripts."""
    title = "script_" + name.replace("-", "_").replace("/", "_")
    loader = importlib.machinery.SourceFileLoader(title, str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(title, loader))
    sys.modules[title] = module  # data classes look there for their module
    loader.exec_module(module)
    return module
