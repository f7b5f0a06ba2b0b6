"""From bytes to lines: UTF-8, and what to do about anything else."""
from __future__ import annotations

from typing import Optional

from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike

SPREADSHEETS = {  # by their first bytes: what they are, and what to do
    b"PK\x03\x04": ("a zip archive, as .xlsx and .ods files are",
                    "save a spreadsheet as CSV in UTF-8, and unpack other archives"),
    b"\xd0\xcf\x11\xe0": ("an old Office file, as .xls files are", "save the spreadsheet as CSV in UTF-8"),
}
COMPRESSED = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}  # and what unpacks them
BLOCK_OF_BZIP2 = b"1AY&SY"  # after a digit; a word may begin with BZh, too
UNDEFINED_IN_1252 = b"\x81\x8d\x8f\x90\x9d"


def name_of(path: PathLike) -> str:
    """The name of a file in error messages."""
    return "standard input" if str(path) == STREAM else str(path)


def split_lines(data: bytes, name: str, start: int = 1) -> list[str]:
    """Decode and split at line feeds only; ignore blank lines at the end. `start` is the number of the first line."""
    text = decode(data, name, start)
    if start == 1 and "\n" not in text and "\r" in text.rstrip("\r"):
        raise InputError(f"{name}, line 1: the lines end with carriage returns, as on an old Macintosh; "
                         f"convert them: tr '\\r' '\\n' < {file_named(name)} > NEW")
    lines = [line[:-1] if line.endswith("\r") else line for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{name} is empty: it needs at least one line of data")
    return lines


def decode(data: bytes, name: str, start: int = 1) -> str:
    """Decode UTF-8 and drop a byte order mark. The error for other encodings names the likely one."""
    if start == 1:
        _refuse_other_files(data, name)
    wide = _two_byte_encoding(data)
    if wide:
        raise InputError(f"{name}, line 1: not UTF-8; {_conversion(name, wide)}")
    try:
        return data.decode("utf-8-sig" if start == 1 else "utf-8")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + start
        raise InputError(f"{name}, line {number}: not UTF-8; {_advice(data, name)}") from None


def _refuse_other_files(data: bytes, name: str) -> None:
    """Refuse spreadsheets and compressed files."""
    for beginning, (kind, advice) in SPREADSHEETS.items():
        if data.startswith(beginning):
            raise InputError(f"{name} is not a text file but {kind}: {advice}")
    for beginning, program in COMPRESSED.items():
        if data.startswith(beginning) and (program != "bzip2" or data[4:10] == BLOCK_OF_BZIP2):
            raise InputError(f"{name} is compressed: unpack it with {program} -dc < {file_named(name)} > NEW")


def _two_byte_encoding(data: bytes) -> Optional[str]:
    """UTF-16 has a byte order mark, or zeros beside its tabs and line feeds."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "UTF-16"
    if b"\0" not in data:
        return None
    for encoding in ("UTF-16LE", "UTF-16BE"):
        text = data.decode(encoding, "replace")
        ends = text.count("\t") + text.count("\n")
        if ends and 10 * ends >= 9 * (data.count(b"\t") + data.count(b"\n")):
            return encoding
    return None


def _advice(data: bytes, name: str) -> str:
    if any(_is_foreign_utf8(line) for line in data.split(b"\n")):
        return "convert the file to UTF-8: other lines are UTF-8 already, so fix this one by hand"
    return _conversion(name, _one_byte_encoding(data))


def _is_foreign_utf8(line: bytes) -> bool:
    """Is it UTF-8 with non-ASCII characters? Text in other encodings hardly ever looks like that."""
    try:
        return not line.decode("utf-8").isascii()
    except UnicodeDecodeError:
        return False


def _one_byte_encoding(data: bytes) -> str:
    """Mostly non-ASCII letters suggest Cyrillic, a few of them Western European text."""
    beyond = sum(byte >= 0xC0 for byte in data)
    latin = sum(chr(byte).isalpha() and byte < 0x80 for byte in data)
    if beyond > latin:
        return "WINDOWS-1251"
    return "ISO-8859-1" if any(byte in UNDEFINED_IN_1252 for byte in data) else "WINDOWS-1252"


def _conversion(name: str, encoding: str) -> str:
    return (f"convert the file to UTF-8; it looks like {encoding.replace('WINDOWS', 'Windows')}: "
            f"iconv -f {encoding} -t UTF-8 {file_named(name)} > NEW")


def file_named(name: str) -> str:
    return "FILE" if name == "standard input" else name
