"""From bytes to lines: UTF-8, or UTF-16 with a byte order mark, and what to do about anything else."""
from __future__ import annotations

import codecs
import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Optional

from il_morph.errors import InputError
from il_morph.files import STREAM, PathLike

SPREADSHEETS = {  # first bytes -> what the file is, and what to do
    b"PK\x03\x04": ("a zip archive, as .xlsx and .ods files are",
                    "save a spreadsheet as CSV in UTF-8, and unpack other archives"),
    b"\xd0\xcf\x11\xe0": ("an old Office file, as .xls files are", "save the spreadsheet as CSV in UTF-8"),
}
COMPRESSED = {b"\x1f\x8b\x08": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}  # first bytes -> the program that unpacks
BLOCK_OF_BZIP2 = b"1AY&SY"  # after `BZh` and a digit; a word may begin with BZh, too
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
BYTE_ORDER_MARK = codecs.BOM_UTF8
ONE_BYTE_ENCODINGS = ("WINDOWS-1252", "WINDOWS-1254", "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1257", "WINDOWS-1253",
                      "WINDOWS-1255", "WINDOWS-1256", "KOI8-R", "ISO-8859-1", "ISO-8859-2", "IBM866", "MACINTOSH")
MOST_CANDIDATES = 4
QUOTES = "‘’“”„‚‹›«»–—…·"  # normal in text, so no sign of a wrong encoding

log = logging.getLogger(__name__)


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
    if "\r" in text:
        _refuse_carriage_returns(lines, name, start)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{name} is empty: it needs at least one line of data")
    return lines


def _refuse_carriage_returns(lines: list[str], name: str, start: int) -> None:
    """Refuse carriage returns except in line ends: any other would be lost at the next reading."""
    for number, line in enumerate(lines, start=start):
        if "\r" in line:
            raise InputError(f"{name}, line {number}: a carriage return is not part of the line end; remove it: "
                             f"tr -d '\\r' < {file_named(name)} > NEW")


def decode(data: bytes, name: str, start: int = 1) -> str:
    """Decode UTF-8 and drop a byte order mark. The error for other encodings names the likely ones."""
    if start == 1:
        _refuse_other_files(data, name)
        data = b"".join(as_utf8([data], name))
    wide = _two_byte_encoding(data)
    if wide:
        raise InputError(f"{name}, line 1: not UTF-8; convert the file to UTF-8; it looks like {wide}: "
                         f"iconv -f {wide} -t UTF-8 {file_named(name)} > NEW")
    if start == 1 and data.startswith(2 * codecs.BOM_UTF8):
        raise InputError(f"{name}, line 1: there are two byte order marks; remove one: "
                         f"tail -c +{len(codecs.BOM_UTF8) + 1} < {file_named(name)} > NEW")
    try:
        return data.decode("utf-8-sig" if start == 1 else "utf-8")
    except UnicodeDecodeError as error:
        number = error.object.count(b"\n", 0, error.start) + start
        raise InputError(f"{name}, line {number}: not UTF-8; {_advice(data, name)}") from None


def as_utf8(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Convert UTF-16 with a byte order mark to UTF-8, and log it; everything else stays as it is."""
    decoder: Optional[codecs.IncrementalDecoder] = None
    for number, chunk in enumerate(chunks):
        if number == 0 and chunk[:4] in UTF32_MARKS:
            raise InputError(f"{name} is UTF-32, which its byte order mark names: convert it: iconv -f UTF-32 -t UTF-8 "
                             f"{file_named(name)} > NEW")
        if number == 0 and chunk[:2] in UTF16_MARKS:
            log.info("%s: read as UTF-16, which its byte order mark names", name)
            decoder = codecs.getincrementaldecoder("utf-16")()
        yield chunk if decoder is None else _from_utf16(decoder, chunk, name)
    if decoder is not None:
        yield _from_utf16(decoder, b"", name, final=True)


def _from_utf16(decoder: codecs.IncrementalDecoder, chunk: bytes, name: str, final: bool = False) -> bytes:
    try:
        return decoder.decode(chunk, final).encode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{name} begins like UTF-16 but is not valid UTF-16: save it again, as UTF-8") from None


def _refuse_other_files(data: bytes, name: str) -> None:
    """Refuse spreadsheets and compressed files."""
    for beginning, (kind, advice) in SPREADSHEETS.items():
        if data.startswith(beginning):
            raise InputError(f"{name} is not a text file but {kind}: {advice}")
    for beginning, program in COMPRESSED.items():
        if data.startswith(beginning) and (program != "bzip2" or data[4:10] == BLOCK_OF_BZIP2):
            raise InputError(f"{name} is compressed: unpack it with {program} -dc < {file_named(name)} > NEW")


def _two_byte_encoding(data: bytes) -> Optional[str]:
    """Recognise UTF-16 without a byte order mark: it has zeros beside its tabs and line feeds."""
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
    return _conversion(name, likely_encodings(data))


def _is_foreign_utf8(line: bytes) -> bool:
    """Is the line UTF-8 with non-ASCII characters? Text in other encodings hardly ever is."""
    try:
        return not line.decode("utf-8").isascii()
    except UnicodeDecodeError:
        return False


def likely_encodings(data: bytes) -> list[tuple[str, str]]:
    """The encodings in which the text looks most like words, each with a word of the text that tells them apart."""
    words = sorted({word for word in re.findall(rb"[^\x00-\x40]+", data) if not word.isascii()}, key=data.index)
    texts = {encoding: [word.decode(encoding, "replace") for word in words] for encoding in ONE_BYTE_ENCODINGS}
    oddities = {encoding: sum(map(_oddities, decoded)) for encoding, decoded in texts.items()}
    best = [encoding for encoding in ONE_BYTE_ENCODINGS if oddities[encoding] == min(oddities.values())]
    telling = max(range(len(words)), key=lambda index: len({texts[encoding][index] for encoding in best}))
    found: dict[str, str] = {}
    for encoding in best:
        found.setdefault(texts[encoding][telling], encoding)
    return [(encoding, word) for word, encoding in found.items()][:MOST_CANDIDATES]


def _oddities(word: str) -> int:
    """Count what words seldom have: signs, capitals after the first letter, two scripts, mostly accented letters."""
    letters = [character for character in word if character not in QUOTES]
    spelling = [character for character in letters if unicodedata.category(character)[0] in "LM"]
    scripts = {unicodedata.name(character, "?").split(" ")[0] for character in spelling}
    signs = sum(not character.isascii() for character in letters) - sum(not one.isascii() for one in spelling)
    capitals = sum(character.isupper() for character in letters[1:])
    accented = scripts == {"LATIN"} and 2 * sum(not character.isascii() for character in letters) > len(letters) > 1
    return signs + capitals + max(len(scripts) - 1, 0) + accented


def _conversion(name: str, candidates: list[tuple[str, str]]) -> str:
    commands = [f"iconv -f {encoding} -t UTF-8 {file_named(name)} > NEW" for encoding, _ in candidates]
    ways = "".join(f"\n  {word}  {command}" for (_, word), command in zip(candidates, commands))
    return (f"convert the file to UTF-8, with the command beside the word that is spelt right:{ways}\n"
            "if none is, save the file as UTF-8 in the program that wrote it")


def file_named(name: str) -> str:
    return "FILE" if name == "standard input" else name
