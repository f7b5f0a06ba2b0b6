"""The packaged sample data: the rules of Turkish, and files that are what the rules give."""
import sys
from collections import Counter
from pathlib import Path

import pytest

import il_morph.sample
from il_morph.data.formats import SIGMORPHON2017, read_samples

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments" / "tools"))
import sample as generate

FOLDER = Path(il_morph.sample.__file__).parent
PARTS = ("train", "dev", "test")


def samples(part):
    return read_samples(FOLDER / f"turkish-{part}.tsv", SIGMORPHON2017, need_output=True)


@pytest.mark.parametrize("noun, features, form", [
    # harmony: back or front, spread or rounded
    ("ev", "PL  NOM", "evler"),
    ("ev", "PL PSS1S ABL", "evlerimden"),
    ("kol", "SG  ACC", "kolu"),
    ("göz", "SG PSS2S LOC", "gözünde"),
    ("kız", "SG  GEN", "kızın"),
    ("kız", "PL PSS1S DAT", "kızlarıma"),
    ("otobüs", "PL  GEN", "otobüslerin"),
    # buffers after a vowel
    ("araba", "SG  GEN", "arabanın"),
    ("araba", "SG  DAT", "arabaya"),
    ("araba", "SG PSS3S NOM", "arabası"),
    ("araba", "SG PSS1S NOM", "arabam"),
    ("kedi", "SG  ACC", "kediyi"),
    # n between the possessor of the third person and a case
    ("ev", "SG PSS3S LOC", "evinde"),
    ("ev", "PL PSS3S ACC", "evlerini"),
    ("araba", "SG PSS3S DAT", "arabasına"),
    ("araba", "SG PSS3S GEN", "arabasının"),
    # softening before a vowel, and only there
    ("kitap", "SG  ACC", "kitabı"),
    ("kitap", "PL  ACC", "kitapları"),
    ("ağaç", "SG  ACC", "ağacı"),
    ("renk", "SG  ACC", "rengi"),
    ("çocuk", "SG  ACC", "çocuğu"),
    ("çocuk", "SG PSS1S DAT", "çocuğuma"),
    ("kanat", "SG PSS3S NOM", "kanadı"),
    ("top", "SG  ACC", "topu"),
    ("saç", "SG PSS1S NOM", "saçım"),
    ("bulut", "SG  ACC", "bulutu"),
    ("hukuk", "SG  ACC", "hukuku"),
    # t after a voiceless consonant
    ("ağaç", "SG  ABL", "ağaçtan"),
    ("kitap", "SG  LOC", "kitapta"),
    ("kitap", "PL  LOC", "kitaplarda"),
    ("güneş", "SG  LOC", "güneşte"),
    # words that have to be learnt one by one
    ("saat", "SG  ACC", "saati"),
    ("saat", "PL  NOM", "saatler"),
    ("rol", "SG PSS3S NOM", "rolü"),
    ("kalp", "SG PSS1S ABL", "kalbimden"),
    ("kalp", "PL  NOM", "kalpler"),
    ("burun", "SG PSS3S NOM", "burnu"),
    ("burun", "SG  ABL", "burundan"),
    ("şehir", "SG  GEN", "şehrin"),
    ("sır", "SG PSS1S NOM", "sırrım"),
    ("sır", "PL  NOM", "sırlar"),
    ("su", "SG  ACC", "suyu"),
    ("su", "SG  GEN", "suyun"),
    ("su", "SG PSS3S LOC", "suyunda"),
    ("su", "SG  LOC", "suda"),
])
def test_well_known_forms(noun, features, form):
    assert generate.inflect(noun, *features.split(" ")) == form


def test_citation_form_is_the_noun_itself():
    nouns = generate.nouns()
    assert [generate.inflect(noun, "SG", "", "NOM") for noun in nouns] == nouns


def test_program_writes_the_packaged_files(tmp_path):
    assert generate.main([str(tmp_path)]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(f"turkish-{part}.tsv" for part in PARTS)
    for name in names:
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_folder_that_does_not_exist_is_an_error(tmp_path, capsys):
    missing = tmp_path / "missing"
    assert generate.main([str(missing)]) == 2
    assert str(missing) in capsys.readouterr().err


def test_sizes():
    assert [len(samples(part)) for part in PARTS] == [400, 100, 100]


def test_no_noun_is_in_two_files():
    train, dev, test = ({sample.input for sample in samples(part)} for part in PARTS)
    assert not train & dev and not train & test and not dev & test
    assert train | dev | test == set(generate.nouns())


def test_no_line_is_repeated():
    lines = [sample for part in PARTS for sample in samples(part)]
    assert len(set(lines)) == len(lines)


def test_all_cells_are_equally_frequent_in_training_data():
    cells = Counter(sample.tag for sample in samples("train"))
    assert len(cells) == len(generate.CELLS)
    assert max(cells.values()) - min(cells.values()) <= 1


def test_every_symbol_and_feature_is_seen_in_training_data():
    def symbols(part):
        return {char for sample in samples(part) for char in sample.input + sample.output}

    def features(part):
        return {name for sample in samples(part) for name in SIGMORPHON2017.features(sample.tag)}

    for part in ("dev", "test"):
        assert symbols(part) <= symbols("train")
        assert features(part) <= features("train")
    assert all(SIGMORPHON2017.features(sample.tag)[0] == "N" for sample in samples("train"))
