"""What the actions of both transition systems do and when they are valid."""
import pytest

from il_morph.transitions.actions import BEGIN, COPY, DELETE, END, MAX_ACTIONS, STEP, UNK, ActionTable
from il_morph.transitions.systems import SYSTEMS, EditSystem, HardAttentionSystem, SubstitutionSystem

HAEM, HARD = SYSTEMS["haem"], SYSTEMS["hard"]
TABLES = {name: ActionTable(system.action, [*system.special_actions, "a", "b"]) for name, system in SYSTEMS.items()}


def test_the_systems_have_the_names_of_the_flag():
    assert {name: type(system) for name, system in SYSTEMS.items()} == {
        "haem": EditSystem, "hard": HardAttentionSystem, "substitute": SubstitutionSystem}


@pytest.mark.parametrize("system, at_end, valid", [
    (HAEM, False, {DELETE, COPY, 5, 6}),
    (HAEM, True, {END, 5, 6}),
    (HARD, False, {STEP, 4, 5}),
    (HARD, True, {END, 4, 5}),
])
def test_end_is_valid_only_where_nothing_is_left_to_read(system, at_end, valid):
    assert TABLES[system.name].valid_actions(at_end) == sorted(valid)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_unknown_symbols_and_begin_are_never_valid(system):
    for at_end in (False, True):
        assert not {UNK, BEGIN} & set(TABLES[system.name].valid_actions(at_end))


@pytest.mark.parametrize("system, action, written, advances", [
    (HAEM, COPY, "x", True),
    (HAEM, DELETE, "", True),
    (HAEM, 6, "b", False),
    (HAEM, END, "", False),
    (HARD, STEP, "", True),
    (HARD, 4, "a", False),
    (HARD, END, "", False),
])
def test_what_an_action_writes_and_whether_it_reads(system, action, written, advances):
    table = TABLES[system.name]
    assert table.rows[action].written("x") == written
    assert table.advance(3, action) == 3 + advances


def test_copies_and_end_are_no_edits():
    assert TABLES["haem"].costs[[COPY, END, DELETE, 5]].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("system, wraps, position", [
    (HAEM, "both", 1), (HAEM, "close", 0), (HARD, "both", 0), (HARD, "close", 0)])
def test_begin_is_popped_by_the_edit_system_alone(system, wraps, position):
    assert system.start(wraps) == position


def test_what_stands_before_the_first_action():
    assert (HAEM.initial_action, HARD.initial_action) == (COPY, BEGIN)


def test_a_sequence_has_at_most_150_actions():
    assert MAX_ACTIONS == 150
