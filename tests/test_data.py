import io
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.data.formats import (
    BEGIN,
    END,
    FORMATS,
    GAP,
    NO_FEATURES,
    SIGMORPHON2016,
    SIGMORPHON2017,
    Sample,
    format_from_flags,
    parse_samples,
    read_samples,
)
from il_morph.errors import InputError
from tests.shared import SHARED, needs_shared, reference_rows


def parse(text, fmt=SIGMORPHON2016, **options):
    return parse_samples(text.encode("utf-8"), fmt, "file", **options)


def error_of(text, fmt=SIGMORPHON2016, **options):
    with pytest.raises(InputError) as caught:
        parse(text, fmt, **options)
    return str(caught.value)


def test_columns_of_each_format():
    assert parse("walk\tpos=V,tense=PST\twalked\n") == [Sample("walk", "pos=V,tense=PST", "walked")]
    assert parse("walk\twalked\tV;PST\n", SIGMORPHON2017) == [Sample("walk", "V;PST", "walked")]
    assert parse("walked\t\twalk\n", NO_FEATURES) == [Sample("walked", "", "walk")]
    assert parse("walked\twalk\n", NO_FEATURES) == [Sample("walked", "", "walk")]
    assert parse("walked\tverb\twalk\n", NO_FEATURES) == [Sample("walked", "verb", "walk")]


def test_features_are_split_and_nothing_else():
    assert SIGMORPHON2016.features("pos=V,tense=PST") == ("pos=V", "tense=PST")
    assert SIGMORPHON2017.features("V; PL;V") == ("V", " PL", "V")
    assert NO_FEATURES.features("anything;at,all") == ("",)


@pytest.mark.parametrize("fmt, text", [
    (SIGMORPHON2016, "walk\tpos=V\nrun\tpos=V\n"),
    (SIGMORPHON2016, "walk\tpos=V\t\nrun\tpos=V\t\n"),
    (SIGMORPHON2017, "walk\tV;PST\nrun\tV;PST\n"),
    (SIGMORPHON2017, "walk\t\tV;PST\nrun\t\tV;PST\n"),
    (NO_FEATURES, "walk\nrun\n"),
    (NO_FEATURES, "walk\t\nrun\t\n"),
    (NO_FEATURES, "walk\t\t\nrun\t\t\n"),
])
def test_covered_files_have_no_outputs(fmt, text):
    samples = parse(text, fmt)
    assert [sample.input for sample in samples] == ["walk", "run"]
    assert [sample.output for sample in samples] == [None, None]
    assert "file has no outputs" in error_of(text, fmt, need_output=True)


def test_partly_covered_files_are_refused():
    message = error_of("a\tpos=V\tb\na\tpos=V\t\na\tpos=V\n")
    assert message.startswith("file, line 2: no output")


@pytest.mark.parametrize("fmt, text, where", [
    (SIGMORPHON2016, "a\tpos=V\tb\na pos=V b\n", "file, line 2: 1 column,"),
    (SIGMORPHON2016, "a\tpos=V\tb\n\na\tpos=V\tb\n", "file, line 2: 1 column,"),
    (SIGMORPHON2017, "a\tb\tV;PST\tc\n", "file, line 1: 4 columns,"),
    (NO_FEATURES, "a\tb\na\tb\tc\td\n", "file, line 2: 4 columns,"),
])
def test_wrong_number_of_columns(fmt, text, where):
    message = error_of(text, fmt)
    assert message.startswith(where)
    assert ", ".join(fmt.columns) in message


@pytest.mark.parametrize("text", ["", "\n", "\n\r\n\n", "\ufeff"])
def test_empty_files(text):
    assert error_of(text).startswith("file is empty")


def test_bytes_that_are_not_utf8_are_located():
    data = "é\tpos=V\té\n".encode() * 2 + "é\tpos=V\té\n".encode("latin-1")
    with pytest.raises(InputError, match="^file, line 3: not UTF-8"):
        parse_samples(data, SIGMORPHON2016, "file")


@pytest.mark.parametrize("symbol", [BEGIN, END, GAP])
def test_reserved_symbols(symbol):
    assert error_of(f"a\tpos=V\tb\na{symbol}\tpos=V\tb\n").startswith(f"file, line 2: the symbol {symbol}")
    assert error_of(f"a\tpos=V\t{symbol}b\n").startswith("file, line 1")
    assert parse(f"a\tpos={symbol}\tb\n")[0].tag == f"pos={symbol}"


def test_line_ends_and_byte_order_mark():
    samples = parse("\ufeffa\tpos=V\tb\r\nc\tpos=V\td\r\n\n\r\n")
    assert [(sample.input, sample.output) for sample in samples] == [("a", "b"), ("c", "d")]
    with pytest.raises(InputError, match="line 2: a carriage return is not part of the line end"):
        parse("a\tpos=V\tb\r\nc\tpos=V\td\r\r\n")


def test_only_line_feeds_end_lines():
    assert parse("a\u2028b\tpos=V\tc\x0bd\x85\n") == [Sample("a\u2028b", "pos=V", "c\x0bd\x85")]


field = st.text(st.characters(blacklist_characters="\t\n\r\ufeff" + BEGIN + END + GAP,
                              blacklist_categories=("Cs",)), min_size=1, max_size=8)


@given(st.sampled_from(sorted(FORMATS)), st.lists(st.tuples(field, field), min_size=1, max_size=5))
def test_what_is_written_is_read_back_unchanged(name, pairs):
    fmt = FORMATS[name]
    tag = {"sigmorphon2016": " a=b,c=d ", "sigmorphon2017": " V; PL", "sigmorphon2022": "V;ACC(2;SG)",
           "no-features": ""}[name]
    words = [(x.replace(";", ":").replace("=", ":"), y.replace(";", ":").replace("=", ":"))
             for x, y in pairs]
    samples = [Sample(x, tag, y) for x, y in words]
    text = "".join(fmt.line(sample, sample.output) + "\n" for sample in samples)
    assert parse(text, fmt) == samples


def test_flags_choose_the_format():
    assert format_from_flags(False, False) is SIGMORPHON2016
    assert format_from_flags(True, False) is SIGMORPHON2017
    assert format_from_flags(False, True) is NO_FEATURES
    with pytest.raises(InputError, match="exclude each other"):
        format_from_flags(True, True)


WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]

OF_2016 = "walk\tpos=V,tense=PST\twalked\n"
OF_2017 = "walk\twalked\tV;PST\n"
WITHOUT = "walked\t\twalk\n"


@pytest.mark.parametrize("text, fmt, advice", [
    (OF_2016, SIGMORPHON2017, "leave out the format flag"),
    (OF_2017, SIGMORPHON2016, "use --sigm2017format"),
    (OF_2017, NO_FEATURES, "use --sigm2017format"),
    (WITHOUT, SIGMORPHON2016, "use --no-feat-format"),
    ("walk\tpos=V\n", SIGMORPHON2017, "leave out the format flag"),
    ("walk\tpos=V\n", NO_FEATURES, "leave out the format flag"),
    ("walk\tV;PST\n", SIGMORPHON2016, "use --sigm2017format"),
    ("walk\tV;PST\n", NO_FEATURES, "use --sigm2017format"),
    ("".join(f"{word}\t{word}ed\n" for word in WORDS), SIGMORPHON2016, "use --no-feat-format"),
    ("".join(f"{word}\t\t{word}ed\n" for word in WORDS), SIGMORPHON2017, "use --no-feat-format"),
])
def test_wrong_format_flags_are_recognised(text, fmt, advice):
    message = error_of(text, fmt)
    assert message.startswith(f"file does not look like the {fmt.name} format")
    assert message.endswith(advice)


def test_a_few_odd_lines_do_not_make_another_format():
    assert len(parse(OF_2016 * 2 + "a\tpos=V\tb;c\n")) == 3
    assert len(parse("walk\tpast\nrun\tpast\n")) == 2
    assert parse("a\tpos=V\tb;c\n") == [Sample("a", "pos=V", "b;c")]


def test_ignored_features_are_mentioned(caplog):
    assert parse(OF_2016, NO_FEATURES) == [Sample("walk", "pos=V,tense=PST", "walked")]
    assert "--no-feat-format ignores it" in caplog.text


def test_standard_input(monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(OF_2016.encode("utf-8")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_samples("-", SIGMORPHON2016) == parse(OF_2016)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot read .*missing: No such file"):
        read_samples(tmp_path / "missing", SIGMORPHON2016)
    with pytest.raises(InputError, match="cannot read .*: Is a directory"):
        read_samples(tmp_path, SIGMORPHON2016)


DATA = SHARED / "data"

DATA_SETS = {"sigmorphon2016": SIGMORPHON2016, "sigmorphon2017": SIGMORPHON2017,
             "lemmatization": NO_FEATURES, "celex": NO_FEATURES}


def small_data_sets(dataset):
    """Paths and facts of the smaller files of a data set."""
    for row in reference_rows("data_facts.tsv"):
        language, split = row["language"], row["split"]
        if row["dataset"] != dataset:
            continue
        if dataset == "sigmorphon2016" and split == "dev":
            yield DATA / dataset / f"{language}-task1-dev", row
        elif dataset == "sigmorphon2017" and row["setting"] == "low" and split == "train":
            yield DATA / dataset / "task1" / f"{language}-train-low", row
        elif dataset == "lemmatization" and row["setting"] == "fold0" and split == "dev":
            yield DATA / dataset / f"{language}_0_dev.txt", row
        elif dataset == "celex" and row["setting"] == "fold0":
            yield DATA / dataset / language / "0500" / "0" / split, row


@needs_shared
@pytest.mark.parametrize("dataset", DATA_SETS)
def test_real_data_agrees_with_its_known_facts(dataset):
    fmt = DATA_SETS[dataset]
    files = list(small_data_sets(dataset))
    assert len(files) >= 4
    for path, facts in files:
        samples = read_samples(path, fmt, need_output=True)
        assert len(samples) == int(facts["lines"]), path
        assert max(len(sample.input) for sample in samples) == int(facts["maxlem"]), path
        assert max(len(sample.output) for sample in samples) == int(facts["maxword"]), path
        if fmt is not NO_FEATURES:
            features = {feature for sample in samples for feature in fmt.features(sample.tag)}
            assert len(features) == int(facts["nfeat_types"]), path


@needs_shared
@pytest.mark.parametrize("dataset", DATA_SETS)
def test_real_data_in_the_wrong_format_is_recognised(dataset):
    right = DATA_SETS[dataset]
    for path, _ in small_data_sets(dataset):
        for wrong in FORMATS.values():
            if wrong is right or (right, wrong) == (SIGMORPHON2016, NO_FEATURES):
                continue  # without features the second column may hold anything
            with pytest.raises(InputError, match="does not look like"):
                read_samples(path, wrong)


@needs_shared
def test_odd_characters_of_the_real_data_survive():
    def read(name):
        return read_samples(DATA / "sigmorphon2017" / "task1" / name, SIGMORPHON2017)

    latin = read("latin-train-medium") + read("latin-dev")
    assert any(" PL" in SIGMORPHON2017.features(sample.tag) for sample in latin)
    assert any("\u200e" in sample.input + sample.output for sample in read("czech-dev"))
    assert any(sample.output.endswith(" ") for sample in read("estonian-train-medium"))


def test_the_feature_that_stands_for_the_unknown_is_refused():
    with pytest.raises(InputError, match="file, line 2: the feature <UNK> is reserved"):
        parse_samples(b"walk\twalked\tV;PST\nwalk\twalks\tV;<UNK>\n", SIGMORPHON2017, "file")
