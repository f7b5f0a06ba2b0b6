"""Complete commands and flags in a shell.

Usage:
  il-morph completion (bash | zsh)

Prints a script for the shell. To load it in every new shell:
  bash:  echo 'source <(il-morph completion bash)' >> ~/.bashrc
  zsh:   echo 'source <(il-morph completion zsh)' >> ~/.zshrc   (below the line with compinit)

Options:
  -h --help  show this text
"""
from __future__ import annotations

import importlib
import re
from dataclasses import dataclass

from il_morph.commands import COMMANDS
from il_morph.commands.arguments import parse_arguments

OPTION = re.compile(r"^  (?:-\w )?(--[\w-]+)([ =]\S+)?  +(\S.*)$", re.MULTILINE)
CHOICE = re.compile(r"\((\w+(?: \| \w+)+)\)")


@dataclass(frozen=True)
class Flag:
    """A flag, with `=` if it takes a value, and the first line of its help."""

    name: str
    help: str


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    print(bash_script() if args["bash"] else zsh_script())
    return 0


def flags_of(usage: str) -> list[Flag]:
    """The flags that a usage text explains."""
    return [Flag(name + ("=" if value else ""), text) for name, value, text in OPTION.findall(usage)]


def words_of(usage: str) -> list[str]:
    """The words to choose from in a usage text: `(bash | zsh)`."""
    found = CHOICE.search(usage)
    return found.group(1).split(" | ") if found else []


def usage_of(command: str) -> str:
    return importlib.import_module(f"il_morph.commands.{command}").__doc__ or ""


def bash_script() -> str:
    usages = {command: usage_of(command) for command in COMMANDS}
    cases = "\n".join(f"        {command}) flags='{' '.join(flag.name for flag in flags_of(usage))}'; "
                      f"words='{' '.join(words_of(usage))}' ;;" for command, usage in usages.items())
    return f'''_il_morph() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} flags= words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{' '.join(COMMANDS)} --help --version' -- "$cur"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    case $cur in
        -*) COMPREPLY=($(compgen -W "$flags" -- "$cur"))
            case ${{COMPREPLY[0]}} in *=) compopt -o nospace 2>/dev/null ;; esac
            return ;;
        =) cur= ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    else
        local IFS=$'\\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -F _il_morph il-morph'''


def zsh_script() -> str:
    commands = "\n".join(f"            {quoted(f'{command}:{purpose}')}" for command, purpose in COMMANDS.items())
    cases = "\n".join(f"        {command})\n            _arguments -S {zsh_specs(usage_of(command))} ;;"
                      for command in COMMANDS)
    return f'''#compdef il-morph
_il_morph() {{
    if (( CURRENT == 2 )); then
        local -a commands=(
{commands}
        )
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
compdef _il_morph il-morph'''


def zsh_specs(usage: str) -> str:
    """The specifications for `_arguments`: flags with their help, then words or files."""
    specs = []
    for flag in flags_of(usage):
        value = ":value:_files" if flag.name.endswith("=") else ""
        specs.append(quoted(f"{flag.name}[{re.sub('[][:]', ' ', flag.help)}]{value}"))
    words = words_of(usage)
    return " ".join([*specs, quoted(f"*:word:({' '.join(words)})" if words else "*:file:_files")])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
