"""The rooms of the package: left never imports from right, only engines import what they are named after, and the
core does not know the systems of other papers."""
import ast
import re
from pathlib import Path

import pytest

import il_morph

PACKAGE = Path(il_morph.__file__).parent
ROOMS = ["data", "transitions", "evaluation", "model", "training", "engines", "cited", "runs", "reproduction", "report",
         "commands"]
GROUND = {"errors", "files", "bars", "limits", "run_folder", "values"}  # modules that every room may import
NEVER = {"reproduction": {"transitions", "training", "engines"}, "report": {"engines"}}  # though they stand to the left
# The systems of other papers: names, and what the allowed modules may say of them
CITED_NAMES = re.compile(r"\b(?:SOFT|MED|LEM)\b|\b(?:Soft|Gru)[A-Z]\w*|[\"'](?:soft|med|lem)[\"']|"
                         r"(?i:hacm|haem[-_ ]?2017|nwfst)|il_morph\.cited")
KNOW_CITED = {
    "model/registry.py",  # finds them
    "commands/train.py",  # the help of --model and --architecture
    "reproduction/",  # facts of tables
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "sample" not in path.parts)


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set:
    """The modules that a module imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "il_morph" and len(parts) > 1 else ""


def test_every_module_is_in_a_room_or_on_the_ground():
    rooms = {room_of(name_of(path)) for path in MODULES}
    assert rooms <= {*ROOMS, *GROUND, "", "__main__", "experiments"}
    assert {"data", "transitions", "model", "training", "engines", "reproduction", "commands"} <= rooms


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_left_never_imports_from_right(path):
    room = room_of(name_of(path))
    others = {other for other in map(room_of, imported(path)) if other in ROOMS and other != room}
    if room in GROUND:
        assert not others
    elif room in ROOMS:
        left = set(ROOMS[:ROOMS.index(room)]) - NEVER.get(room, set())
        assert others <= left


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_engines_and_networks_of_cited_systems_import_dynet_and_numba(path):
    packages, module = {module.split(".")[0] for module in imported(path)}, path.relative_to(PACKAGE).as_posix()
    if not module.startswith("engines/dynet/") and not re.fullmatch(r"cited/\w+/network\.py", module):
        assert not packages & {"dynet", "dynet_config"}
    if not module.startswith(("engines/native/", "cited/nwfst/")):
        assert not packages & {"numba", "llvmlite"}


def test_only_the_registry_and_texts_know_the_systems_of_other_papers():
    modules = {path.relative_to(PACKAGE).as_posix() for path in MODULES
               if CITED_NAMES.search(path.read_text(encoding="utf-8"))}
    unexpected = {module for module in modules if not module.startswith(("cited/", *KNOW_CITED))}
    assert unexpected == set()


def test_the_command_knows_cited_systems_in_its_help_alone():
    text = (PACKAGE / "commands" / "train.py").read_text(encoding="utf-8")
    assert CITED_NAMES.search(text.split('"""', 2)[1])
    assert not CITED_NAMES.search(text.split('"""', 2)[2])


def test_a_cited_system_imports_no_other():
    for path in (PACKAGE / "cited").glob("*/*.py"):
        others = {module for module in imported(path) if module.startswith("il_morph.cited.")}
        assert {module.split(".")[2] for module in others} <= {path.parent.name}, path


def test_the_package_has_no_import_cycle():
    names = {name_of(path) for path in MODULES}
    edges = {name_of(path): imported(path) & names - {name_of(path)} for path in MODULES}
    done, path = set(), []

    def visit(module):
        assert module not in path, " → ".join([*path[path.index(module):], module])
        if module not in done:
            path.append(module)
            for other in sorted(edges[module]):
                if not module.startswith(other + "."):  # a package is there before its modules
                    visit(other)
            done.add(path.pop())

    for module in sorted(edges):
        visit(module)


def test_no_experiment_imports_from_the_tests():
    for path in (PACKAGE.parent / "experiments").rglob("*.py"):
        assert not {module for module in imported(path) if module.split(".")[0] == "tests"}, path
