"""A run as a value: compared by value, through JSON and through the command line and back."""
import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.commands import train
from il_morph.commands.arguments import parse_arguments
from il_morph.model.settings import PRESETS, SEPARATORS, ModelSettings
from il_morph.runs.asked import make_spec
from il_morph.runs.spec import OTHERS, SETTINGS, RunSpec, Task

paths = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1).filter(lambda text: text != "--")


def values_of(declared):
    """Any value of a setting, or None, which asks for nothing."""
    bounds, default = declared.metadata, declared.default
    if "choices" in bounds:
        return st.sampled_from((None, *bounds["choices"]))
    if "low" in bounds:
        high = 10**6 if bounds["high"] is None else bounds["high"]
        exact = {"allow_subnormal": False} if isinstance(default, float) else {}
        return st.one_of(st.none(), (st.floats if exact else st.integers)(bounds["low"], high, **exact))
    if isinstance(default, bool):
        return st.sampled_from((None, True, False))
    if declared.name in SEPARATORS:
        return st.sampled_from((None, "", " ", "·", "--"))
    return {"beam_widths": st.lists(st.integers(2, 99), max_size=3, unique=True), "columns": st.sampled_from((
        None, ("input", "output"), ("output", "-", "features", "input"))),
        "feature_separator": st.sampled_from((None, ";", "|", " ")),
        "augment": st.sampled_from((None, "0", "7,3@2"))}.get(declared.name, st.one_of(st.none(), paths))


ASKED = st.fixed_dictionaries({}, optional={name: values_of(each) for name, each in {**SETTINGS, **OTHERS}.items()})
SPECS = st.builds(make_spec, paths, st.one_of(st.none(), paths), paths, ASKED)


@settings(deadline=None)
@given(SPECS)
def test_a_run_comes_back_from_json(spec):
    assert RunSpec.from_dict(json.loads(json.dumps(spec.as_dict()))) == spec
    task = Task(spec, "title", "kind")
    assert Task.from_dict(json.loads(json.dumps({"spec": spec.as_dict(), "title": "title", "kind": "kind"}))) == task


@settings(deadline=None, max_examples=60)
@given(SPECS)
def test_a_run_comes_back_from_its_command_line(spec):
    assert train.spec_of(parse_arguments(train.__doc__, spec.argv())) == spec


@settings(deadline=None)
@given(SPECS, SPECS)
def test_runs_are_compared_by_value(one, other):
    assert (one == other) == (one.as_dict() == other.as_dict())
    assert replace(one) == one and hash(replace(one)) == hash(one)
    assert replace(one, results=one.results + "x") != one


def test_a_run_cannot_be_changed():
    spec = RunSpec("train", "dev", "results")
    for each in fields(spec):
        with pytest.raises(AttributeError):
            setattr(spec, each.name, None)
    assert spec.with_settings(epochs=3).settings == {"epochs": 3} and spec.settings == {}


@pytest.mark.parametrize("values", [{}, {"train": "a"}, {"settings": 3}, {"settings": {}, "nonsense": 1}])
def test_what_is_no_run_is_refused(values):
    with pytest.raises((KeyError, TypeError, AttributeError)):
        RunSpec.from_dict(values)


@pytest.mark.parametrize("model", PRESETS)
def test_what_is_explicit_takes_precedence_over_every_preset(model):
    spec = RunSpec("train", "dev", "results", model=model, settings={"epochs": 7, "enc_hidden": 9})
    assert spec.training.epochs == 7 and ModelSettings(**spec.network).enc_hidden == 9
