"""Write the sample data set: inflected Turkish nouns in the SIGMORPHON 2017 format.

Usage:
  sample.py OUTPUT-FOLDER

It writes turkish-train.tsv, turkish-dev.tsv and turkish-test.tsv, the same bytes every time. No noun is in two of them.
Nouns whose forms nobody could tell from their spelling (saat, ağız) are in the training data.
"""
from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Optional

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docopt import docopt

from il_morph.errors import InputError
from il_morph.files import write_atomically

VOWELS = "aıoueiöü"
VOICELESS = "çfhkpsşt"
TWO_FOLD = dict(zip(VOWELS, "aaaaeeee"))
FOUR_FOLD = dict(zip(VOWELS, "ııuuiiüü"))
FRONT = dict(zip("aıou", "eiöü"))
SOFT = {"p": "b", "ç": "c", "t": "d", "k": "ğ"}

# A form is noun + number + possessor + case: kitap+lar+ım+dan "from my books".
# A is a or e and I is ı, i, u or ü, in harmony with the last vowel; D is t after a voiceless
# consonant, else d; a letter in brackets stands only between two vowels or two consonants.
NUMBERS = {"SG": "", "PL": "lAr"}
POSSESSORS = {"": "", "PSS1S": "(I)m", "PSS2S": "(I)n", "PSS3S": "(s)I"}
CASES = {"NOM": "", "ACC": "(y)I", "DAT": "(y)A", "LOC": "DA", "ABL": "DAn", "GEN": "(n)In"}
CELLS = [(number, possessor, case)
         for number in NUMBERS for possessor in ("", "PSS1S", "PSS3S") for case in CASES]

CELLS_PER_NOUN = 2
HELD_OUT_NOUNS = 50  # in dev, and as many in test

REGULAR = """
araba elma anne baba kapı masa oda hava para hafta kafa dünya sıra tarla halı yazı arı kuzu
kutu koku ordu korku duygu bilgi sevgi çizgi silgi gemi kedi keçi deri tilki dergi gece köşe bahçe
pencere tencere öğle çeşme düğme gölge türkü köprü örtü ölçü sürü ütü radyo banyo piyano kilo
palto tablo depo yumurta çorba turşu lira
ev el göz söz yüz köy gün gül kül tüy diş iş kış kuş taş baş yaş ay yay çay yol kol dal bal yıl
kız buz tuz toz kum kaz ses ders ter yer sel tel çöl göl cam dağ yağ bağ tren
deniz yıldız domuz balkon orman zaman insan düşman aslan tavşan kaplan hayvan bayram adam akşam
kalem dönem işlem düzen neden demir kömür çamur yağmur hamur kardeş güneş ateş savaş arkadaş
maaş bakış gümüş yarış otobüs nefes telefon televizyon istasyon limon salon balon sabun horoz
oyun odun kanun yorgan soğan kazan fırın doktor motor müdür kültür çadır satır kadın yangın altın
sınav pilav görev ödev alev defter şeker biber peynir yıldırım
çocuk köpek ekmek çiçek yürek bebek yemek gömlek böcek sinek eşek kulak ayak sokak bıçak yaprak
toprak bayrak uçak yatak tabak parmak ırmak balık kabuk koltuk tavuk
kitap dolap çorap mektup hesap cevap kebap şarap kasap kulüp
ağaç ilaç sonuç amaç araç kılıç havuç çekiç sevinç
ip top küp saç maç koç suç at et ot süt kat dost park halk köşk ek ok
sepet bilet ceket millet devlet bulut hayat fiyat avukat
"""
SOFTENED = """
renk gök kalp kap borç güç taç uç genç kanat armut umut yoğurt dert yurt kurt tat cilt söğüt
geçit kilit
"""
UNSOFTENED = "hukuk ahlak merak"
FRONTED = "saat harf kalp rol gol kontrol petrol alkol sembol hayal festival dikkat seyahat"
VOWEL_DROPPED = "burun ağız oğul boyun karın akıl isim şehir resim beyin göğüs fikir nehir ömür"
DOUBLED = "sır his hat"
EXTENDED_BY_Y = "su"

Cell = tuple[str, str, str]


def nouns() -> list[str]:
    """All nouns of the sample, each once."""
    groups = (REGULAR, SOFTENED, UNSOFTENED, FRONTED, VOWEL_DROPPED, DOUBLED, EXTENDED_BY_Y)
    return list(dict.fromkeys(" ".join(groups).split()))


def inflect(noun: str, number: str, possessor: str, case: str) -> str:
    """The form of a noun in one cell of its paradigm."""
    form = attach(noun, NUMBERS[number])
    form = attach(form, POSSESSORS[possessor])
    if possessor == "PSS3S" and case != "NOM":
        return attach(form, pronominal_n(CASES[case]))
    return attach(form, CASES[case])


def pronominal_n(suffix: str) -> str:
    """After the possessor of the third person every case begins with n: evi, evini, evinde."""
    return "n" + re.sub(r"\(.\)", "", suffix)


def attach(stem: str, suffix: str) -> str:
    """Join stem and suffix: settle the buffer, alter the stem, then spell the suffix."""
    if not suffix:
        return stem
    suffix = settle_buffer(stem, suffix)
    before_vowel = suffix[0] in VOWELS + "AI"
    form = stem_before_vowel(stem) if before_vowel else stem
    vowel = harmony_vowel(stem)
    for letter in suffix:
        if letter == "A":
            letter = TWO_FOLD[vowel]
        elif letter == "I":
            letter = FOUR_FOLD[vowel]
        elif letter == "D":
            letter = "t" if form[-1] in VOICELESS else "d"
        if letter in VOWELS:
            vowel = letter
        form += letter
    return form


def settle_buffer(stem: str, suffix: str) -> str:
    """Keep the bracketed first letter of a suffix where it parts two vowels or two consonants."""
    if suffix[0] != "(":
        return suffix
    buffer, rest = suffix[1], suffix[3:]
    ends_in_vowel = stem[-1] in VOWELS and stem not in EXTENDED_BY_Y.split()
    return buffer + rest if ends_in_vowel == (rest[0] in "AI") else rest


def harmony_vowel(stem: str) -> str:
    """The vowel that suffixes agree with: the last one; saat, rol … count as front."""
    vowel = next(letter for letter in reversed(stem) if letter in VOWELS)
    return FRONT[vowel] if stem in FRONTED.split() else vowel


def stem_before_vowel(stem: str) -> str:
    """The shape a stem takes before a vowel: kitab-, reng-, burn-, sırr-, suy-."""
    if stem in EXTENDED_BY_Y.split():
        return stem + "y"
    if stem in DOUBLED.split():
        return stem + stem[-1]
    if stem in VOWEL_DROPPED.split():
        return stem[:-2] + stem[-1]
    return soften(stem) if softens(stem) else stem


def softens(stem: str) -> bool:
    """Final p, ç and k soften in words of several syllables; SOFTENED and UNSOFTENED differ."""
    if stem in UNSOFTENED.split():
        return False
    syllables = sum(letter in VOWELS for letter in stem)
    return stem in SOFTENED.split() or (syllables > 1 and stem[-1] in "pçk")


def soften(stem: str) -> str:
    """Voice the last consonant: kitab-, ağac-, kanad-, çocuğ-, and reng- after n."""
    return stem[:-1] + ("g" if stem.endswith("nk") else SOFT[stem[-1]])


def stable_order(items: Sequence, salt: object) -> list:
    """A shuffle that depends on nothing but its arguments."""
    return sorted(items, key=lambda item: hashlib.sha256(f"{salt} {item}".encode()).digest())


def deal_cells(part: str) -> Iterator[Cell]:
    """The cells in a new order each round, so that all become equally frequent."""
    for deal in count():
        yield from stable_order(CELLS, f"{part} {deal}")


def lines(part: str, chosen: Sequence[str]) -> Iterator[str]:
    """Some cells of each noun as lines of a data file."""
    cells = deal_cells(part)
    for noun in chosen:
        for number, possessor, case in islice(cells, CELLS_PER_NOUN):
            features = ";".join(filter(None, ("N", number, possessor, case)))
            yield f"{noun}\t{inflect(noun, number, possessor, case)}\t{features}\n"


def data_sets() -> dict[str, str]:
    """File names and contents of the sample."""
    regular = stable_order(REGULAR.split(), "nouns")
    order = regular + stable_order([noun for noun in nouns() if noun not in regular], "nouns")
    parts = {"test": order[:HELD_OUT_NOUNS],
             "dev": order[HELD_OUT_NOUNS:2 * HELD_OUT_NOUNS],
             "train": order[2 * HELD_OUT_NOUNS:]}
    return {f"turkish-{part}.tsv": "".join(lines(part, chosen)) for part, chosen in parts.items()}


def main(argv: Optional[list[str]] = None) -> int:
    folder = Path(docopt(__doc__, argv)["OUTPUT-FOLDER"])
    try:
        for name, content in data_sets().items():
            write_atomically(folder / name, content)
    except InputError as error:
        print(f"il-morph: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
