"""Completion in a real shell, and suggestions for commands that are not there."""
import shlex
import shutil
import subprocess
import sys

import pytest

from il_morph.commands import COMMANDS, completion
from tests.cli import ROOT, error_of, il_morph

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

SCRIPT = f"source <({shlex.quote(sys.executable)} -m il_morph completion bash)"


def completed(*words: str, folder=ROOT, script="") -> list:
    """What bash offers for the last of these words."""
    line = f"""{script or completion.bash_script()}\ncd {shlex.quote(str(folder))}
        COMP_WORDS=({' '.join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}
        [ "$(complete -p il-morph)" = "complete -F _il_morph il-morph" ] && _il_morph
        printf '%s\\n' "${{COMPREPLY[@]}}" """
    process = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0 and process.stderr == "", process.stderr
    return process.stdout.splitlines()


def test_commands_are_completed():
    assert completed("il-morph", "tr", script=SCRIPT) == ["train"]
    assert set(COMMANDS) <= set(completed("il-morph", ""))


@pytest.mark.parametrize("words, expected", [
    (["train", "--dynet-s"], ["--dynet-seed="]), (["predict", "--nb"], ["--nbest="]),
    (["evaluate", "--err"], ["--errors"]), (["split", "--split"], ["--split-by="]),
    (["completion", "z"], ["zsh"]), (["predict", "--sigm"], [""]),
])
def test_flags_and_words_are_completed(words, expected):
    assert completed("il-morph", *words) == expected


def test_files_are_completed_also_as_values(tmp_path):
    (tmp_path / "swedish data.tsv").write_text("")
    assert completed("il-morph", "evaluate", "swed", folder=tmp_path) == ["swedish data.tsv"]
    assert completed("il-morph", "evaluate", "--train", "=", folder=tmp_path) == ["swedish data.tsv"]
    assert completed("il-morph", "evaluate", "--train", "=", "swe", folder=tmp_path) == ["swedish data.tsv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_of_a_usage_text_is_offered(command):
    usage = completion.usage_of(command)
    flags = [flag.name for flag in completion.flags_of(usage)]
    options = {line.split()[0].split("=")[0] for line in usage.splitlines() if line.startswith("  --")}
    assert options <= {flag.rstrip("=") for flag in flags}
    assert all(flag in completion.bash_script() and flag in completion.zsh_script() for flag in flags)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_understands_its_script():
    line = "autoload -U compinit; compinit -D; eval \"$(cat)\"; print $_comps[il-morph]"
    process = subprocess.run(["zsh", "-c", line], input=completion.zsh_script(), capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (0, "_il_morph\n", "")


def test_other_shells_are_refused():
    process = il_morph("completion", "fish")
    assert process.returncode == 2 and "Usage:" in process.stderr


@pytest.mark.parametrize("typed, meant", [("trian", "train"), ("evalute", "evaluate"), ("pedict", "predict")])
def test_a_command_that_is_not_there_is_suggested(capsys, typed, meant):
    assert error_of(capsys, typed).startswith(f"unknown command {typed!r}; did you mean {meant}?\n")


def test_what_is_like_no_command_gets_no_suggestion(capsys):
    assert error_of(capsys, "xyzzy").startswith("unknown command 'xyzzy'\n")
