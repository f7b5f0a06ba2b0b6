"""Which format a file has: real samples of each, what is doubtful, and all the data there is."""
import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from il_morph.commands import main
from il_morph.data.dataformat import split_outside_brackets
from il_morph.data.formats import (
    FORMATS,
    NO_FEATURES,
    SIGMORPHON2016,
    SIGMORPHON2017,
    SIGMORPHON2022,
    AmbiguousFormat,
    ReadOptions,
    Sample,
    format_named,
    format_of,
    parse_data,
    read_data,
    read_parts,
    read_samples,
)
from il_morph.data.reading import RECOGNISED
from il_morph.errors import InputError
from il_morph.reproduction.paper_tables import OF_THE_PAPER, load_table
from tests.cli import DEV, SHORT, SMALL, TRAIN, Run, as_2016, as_2017, error_of, in_two_columns
from tests.shared import SHARED, needs_shared

SAMPLES = {  # lines as they stand in the files of each shared task and data set
    "2016": ("abanar\tpos=V,polite=INFM,mood=IMP,tense=PRS,per=2,num=SG\tabana\n"
             "gato\tpos=N,num=PL\tgatos\nrojo\tpos=ADJ,gen=FEM,num=SG\troja\n"),
    "2017": "aanpikken\taangepikt\tV.PTCP;PST\nhuis\thuizen\tN;PL\ngroot\tgrote\tADJ\n",
    "UniMorph": "katt\tkatter\tN;INDF;PL;NOM\nkatt\tkattens\tN;DEF;SG;GEN\nspringa\tsprang\tV;ACT;IND;PST\n",
    "2022": "alma\tN;ACC;PL\talmákat\nház\tN;IN+ESS;SG\tházban\nkér\tV;IND;PRS;NOM(1,SG);ACC(2)\tkérlek\n",
    "2023": "bak\tV;IMP;ACC(2,SG)\tbákul\nbak\tV;IND;PRS;NOM(3,SG)\tbakar\nsu\tN;ACC;SG\tsuyu\n",
    "lemmatization": "abandoned\t\tabandon\nabandons\t\tabandon\nwent\t\tgo\n",
    "two columns": "hinhielt\thinhalte\nfistelte\tfistle\nrummelte\trummele\n",
    "pronunciations": "walk\tW AO1 K\ntalk\tT AO1 K\nbake\tB EY1 K\n",
    "one column": "walk\ntalk\nbake\n",
    "covered 2016": "gato\tpos=N,num=PL\nrojo\tpos=ADJ,num=SG\n",
    "covered 2017": "huis\tN;PL\ngroot\tADJ;CMPR\n",
    "covered with a column": "huis\t\tN;PL\ngroot\t\tADJ;CMPR\n",
    "single tags": "huis\thuizen\tPL\ngroot\tgrote\tCMPR\n",
    "single tags between": "huis\tPL\thuizen\ngroot\tCMPR\tgrote\n",
    "features first": "N;PL\thuis\thuizen\nADJ;CMPR\tgroot\tgrote\n",
    "universal dependencies": "huis\tCase=Nom|Number=Plur\thuizen\ngroot\tDegree=Cmp|Number=Sing\tgrote\n",
    "attributes at the end": "gato\tgatos\tpos=N,num=PL\nrojo\troja\tpos=ADJ,num=SG\n",
    "attributes and semicolons": "gato\tpos=N;num=PL\tgatos\nrojo\tpos=ADJ;num=SG\troja\n",
    "commas alone": "gato\tN,PL\tgatos\nrojo\tADJ,SG\troja\n",
}
RIGHT = {
    "2016": SIGMORPHON2016, "2017": SIGMORPHON2017, "UniMorph": SIGMORPHON2017, "2022": SIGMORPHON2022,
    "2023": SIGMORPHON2022, "lemmatization": NO_FEATURES, "two columns": NO_FEATURES, "pronunciations": NO_FEATURES,
    "one column": NO_FEATURES, "covered 2016": SIGMORPHON2016, "covered 2017": SIGMORPHON2017,
    "covered with a column": SIGMORPHON2017, "single tags": SIGMORPHON2017, "single tags between": SIGMORPHON2016,
    "features first": format_of(("features", "input", "output"), ";"),
    "universal dependencies": format_of(("input", "features", "output"), "|"),
    "attributes at the end": format_of(("input", "output", "features"), ","),
    "attributes and semicolons": SIGMORPHON2022, "commas alone": SIGMORPHON2016,
}


def parse(text, options=RECOGNISED, **more):
    return parse_data(text.encode("utf-8"), "file", options, **more)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_of_each_format_are_recognised(name):
    assert parse(SAMPLES[name]).format == RIGHT[name]


def test_the_first_line_of_each_order_is_read_as_it_should_be():
    assert parse(SAMPLES["2022"]).samples[0] == Sample("alma", "N;ACC;PL", "almákat")
    assert parse(SAMPLES["2017"]).samples[0] == Sample("aanpikken", "V.PTCP;PST", "aangepikt")
    assert parse(SAMPLES["features first"]).samples[1] == Sample("groot", "ADJ;CMPR", "grote")


@pytest.mark.parametrize("name, description", [
    ("UniMorph", 'input, output, features separated by ";" (3 lines)'),
    ("2022", 'input, features separated by ";", output (3 lines)'),
    ("2016", 'input, features separated by ",", output (3 lines)'),
    ("two columns", "input, output (3 lines)"),
    ("lemmatization", "input, a column that is ignored, output (3 lines)"),
    ("one column", "input (3 lines)"),
    ("covered 2017", 'input, features separated by ";" (2 lines)'),
])
def test_how_a_file_was_read_is_said_in_one_line(name, description):
    assert parse(SAMPLES[name]).description == description


@pytest.mark.parametrize("sign", ["+", ".", "-", ":"])
def test_features_without_a_separator_are_said_to_be_one_each(tmp_path, caplog, sign):
    path = tmp_path / "words.tsv"
    path.write_text(f"walk\twalked\tV{sign}PST\nplay\tplays\tV{sign}PRS\n", encoding="utf-8")
    caplog.set_level("INFO")
    data = read_data(path)
    assert data.format is SIGMORPHON2017
    assert caplog.messages == [
        f'{path}: input, output, features (2 lines; no ";" in the features: each bundle is one)',
        f"{path}, line 1: 'V{sign}PST' is read as one feature; if \"{sign}\" separates features, write \";\" instead, "
        f'or use --feature-separator="{sign}" where the command has it']
    assert read_data(path, ReadOptions(separator=sign)).description == (
        f'input, output, features separated by "{sign}" (2 lines)')
    assert len(caplog.messages) == 3
    read_data(path, ReadOptions(columns=("input", "output", "features")))
    assert caplog.messages[3:] == caplog.messages[:2]


def test_single_features_are_no_reason_to_think_of_separators(tmp_path, caplog):
    path = tmp_path / "words.tsv"
    path.write_text(SAMPLES["single tags"], encoding="utf-8")
    said = 'input, output, features (2 lines; no ";" in the features: each bundle is one)'
    assert read_data(path).description == said
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == []


def test_ensemble_says_that_features_are_one_each(tmp_path, caplog, capsys):
    path = tmp_path / "words.tsv"
    path.write_text("walk\twalked\tV+PST\nplay\tplays\tV+PRS\n", encoding="utf-8")
    caplog.set_level("INFO")
    assert main(["ensemble", "-", str(path)]) == 0
    assert caplog.messages == [
        f'{path}: input, output, features (2 lines; no ";" in the features: each bundle is one)']


def test_thousands_are_easy_to_read():
    assert parse(SAMPLES["2017"] * 400).description.endswith("(1,200 lines)")


# Brackets

def test_brackets_are_kept_whole():
    assert SIGMORPHON2022.features("V;IMP;ACC(2,SG)") == ("V", "IMP", "ACC(2,SG)")
    assert SIGMORPHON2022.features("V;ACC(2;SG);X(a;(b;c))") == ("V", "ACC(2;SG)", "X(a;(b;c))")
    assert format_of(("input", "output", "features"), ",").features("V,ACC(2,SG)") == ("V", "ACC(2,SG)")
    assert SIGMORPHON2022.features("V;(;PL") == ("V", "(", "PL")


@given(st.text("ab;()", max_size=12))
def test_splitting_outside_brackets_loses_nothing(tag):
    parts = split_outside_brackets(tag, ";")
    assert ";".join(parts) == tag
    if tag.count("(") == tag.count(")") and "(" not in tag:
        assert parts == tag.split(";")


# Names

columns = st.permutations(["input", "output", "features"]).flatmap(
    lambda order: st.lists(st.just("-"), max_size=2).map(lambda ignored: tuple(order + ignored)))


@given(columns, st.sampled_from([";", ",", "|", ":", "+", " ", "::", "-"]))
def test_every_format_is_found_by_its_name(order, separator):
    fmt = format_of(order, separator)
    assert format_named(fmt.name) == fmt
    assert (fmt.columns, fmt.separator) == (order, separator)


@given(st.permutations(["input", "output", "-"]))
def test_so_are_those_without_features(order):
    fmt = format_of(order, None)
    assert format_named(fmt.name) == fmt
    assert fmt.separator is None


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_known_formats_keep_their_names(name):
    fmt = FORMATS[name]
    assert format_named(name) is fmt
    if fmt.separator:
        assert format_of(fmt.columns, fmt.separator) is fmt


@pytest.mark.parametrize("name", ["sigmorphon2099", "", "input", "input,output:;", "input,features,output",
                                  "input,input,output:;", "input,features,output:", "output,features:;"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="there is no data format"):
        format_named(name)


# What is doubtful

@pytest.mark.parametrize("text, readings", [
    ("verb\tone\ttwo\nnoun\tthree\tfour\n", [
        "input 'verb', features 'one', output 'two'  (--columns=input,features,output)",
        "input 'verb', output 'one', features 'two'  (--columns=input,output,features)",
        "input 'verb', ignored 'one', output 'two'  (--columns=input,-,output)"]),
    ("gato\tN;PL\tV;SG\n", ["input 'gato', features 'N;PL', output 'V;SG'",
                             "input 'gato', output 'N;PL', features 'V;SG'"]),
    ("gato\tN;X,PL\tgatos\n", ["'N' + 'X,PL'  (--feature-separator=\";\")",
                                "'N;X' + 'PL'  (--feature-separator=\",\")"]),
    ("gato\tPL\nrojo\tPL\n", ["input 'gato', features 'PL'  (--columns=input,features,output)",
                               "input 'gato', output 'PL'  (--columns=input,output)"]),
    ("gato\tgatos\tN;PL\tgat-os\n", ["--columns=input,output,features,-"]),
    ("gato\tN;PL\tgatos\tgat-os\n", ["--columns=input,features,output,-"]),
    ("form\tlemma\tmsd\ngatos\tgato\tN;PL\n", [
        "the header row names the form before the lemma", "input 'gatos', output 'gato', features 'N;PL'",
        "output 'gatos', input 'gato', features 'N;PL'"]),
    ("lemma\tform\tmsd\ngato\tN;PL\tgatos\n", ["the header row says one thing",
                                              "input 'gato', output 'N;PL', features 'gatos'",
                                              "input 'gato', features 'N;PL', output 'gatos'"]),
])
def test_what_is_doubtful_is_refused_with_its_readings(text, readings):
    with pytest.raises(AmbiguousFormat) as caught:
        parse(text, need_output=True)
    message = str(caught.value)
    assert message.startswith("file: ")
    assert all(reading in message for reading in readings), message


def test_inputs_that_are_tags_are_refused():
    with pytest.raises(InputError, match="the first column looks like features"):
        parse("N;PL\tgato\nN;SG\trojo\n")


@pytest.mark.parametrize("options, name", [
    (ReadOptions(SIGMORPHON2017), "2022"), (ReadOptions(SIGMORPHON2016), "2022"), (ReadOptions(SIGMORPHON2022), "2017"),
    (ReadOptions(SIGMORPHON2022), "2016"), (ReadOptions(NO_FEATURES), "2017"),
    (ReadOptions(columns=("input", "features", "output")), "UniMorph"),
    (ReadOptions(columns=("input", "output", "features"), separator=";"), "2022"),
])
def test_tags_where_words_should_be_are_refused(options, name):
    with pytest.raises(InputError, match="does not look like the .* but like"):
        parse(SAMPLES[name], options)


def test_words_with_separators_do_not_mislead():
    odd = "a ; b\ta ; bs\tN;PL\nyes, sir\tyes, sirs\tN;PL\n"
    assert parse(SAMPLES["2017"] * 3 + odd).format is SIGMORPHON2017
    assert parse("a;b\tpos=N,num=PL\ta;bs\n").format is SIGMORPHON2016


def test_clitics_and_alternatives_are_words():
    clitics = "".join(f"{word}\t{word}=la\n" for word in ("casa", "porta", "via", "luna"))
    assert parse(clitics, need_output=True).format is NO_FEATURES
    assert parse("casa\tcasa=la\tN;PL\nvia\tvia=la\tN;PL\n").format is SIGMORPHON2017
    words = [first + second for first in "bdfgklmn" for second in "aeiou"]
    alternatives = "".join(f"{word}\t{word}t;{word}d\n" for word in words)
    assert parse(alternatives, need_output=True).format is NO_FEATURES


# Saying it

def test_columns_and_separator_are_taken_at_their_word():
    fmt = parse("gato\tx\tgatos\tN+PL\n", ReadOptions(columns=("input", "-", "output", "features"),
                                                      separator="+")).format
    assert fmt.features("N+PL") == ("N", "PL")
    assert fmt.name == "input,-,output,features:+"
    data = parse("gatos\tgato\n", ReadOptions(columns=("output", "input")))
    assert data.samples == [Sample("gato", "", "gatos")]
    assert parse(SAMPLES["commas alone"], ReadOptions(columns=("input", "features", "output"))).format is SIGMORPHON2016
    assert parse("gato\tN.PL\tgatos\n", ReadOptions(separator=".")).format.features("N.PL") == ("N", "PL")


@pytest.mark.parametrize("columns, name, advice", [
    (("input", "-", "output"), "another", "line 1 would be input 'gato', ignored 'gatos', output 'N;PL'"),
    (("input", "features", "output"), "UniMorph", "line 1 would be input 'katt', features 'katter', "
                                                  "output 'N;INDF;PL;NOM'"),
])
def test_columns_that_do_not_fit_are_shown_and_asked_for_again(columns, name, advice):
    text = SAMPLES.get(name, "gato\tgatos\tN;PL\nrojo\trojos\tADJ;PL\n")
    for options in (ReadOptions(columns=columns), replace(expecting(SIGMORPHON2017), columns=columns)):
        with pytest.raises(InputError) as caught:
            parse(text, options)
        assert str(caught.value).endswith(f": {advice}; name the columns with --columns")
    with pytest.raises(InputError, match="with --columns, or the feature separator with --feature-separator$"):
        parse(SAMPLES["2016"], ReadOptions(columns=("input", "features", "output"), separator=";"))


@pytest.mark.parametrize("columns", [("input", "output", "features", "-"), ("input", "output")])
def test_more_or_fewer_columns_than_the_file_has_are_refused(columns):
    with pytest.raises(InputError) as caught:
        parse(SAMPLES["UniMorph"], ReadOptions(columns=columns), need_output=True)
    assert str(caught.value) == (f"file, line 1: 3 columns, but --columns={','.join(columns)} names {len(columns)}; "
                                 "name the columns with --columns")


def test_the_output_may_be_missing_among_the_columns_that_are_named():
    covered = parse("huis\tx\tN;PL\n", ReadOptions(columns=("input", "-", "features", "output")))
    assert covered.samples == [Sample("huis", "N;PL", None)]
    assert parse("huis\n", ReadOptions(columns=("input", "output"))).samples == [Sample("huis", "", None)]


def test_missing_outputs_are_asked_for_with_flags_that_there_are():
    for options in (expecting(SIGMORPHON2017), ReadOptions(columns=("input", "features", "output"))):
        with pytest.raises(InputError) as caught:
            parse(SAMPLES["covered with a column"] if options.expected else "huis\tN;PL\t\n", options, need_output=True)
        assert str(caught.value) == ("file has no outputs, but they are needed here; give a file with outputs, "
                                     "or name the columns with --columns")


def test_doubt_about_columns_is_settled_by_columns_alone():
    with pytest.raises(AmbiguousFormat, match="\nsay which with --columns$"):
        parse("walk\tV+PST\twalked\n", expecting(SIGMORPHON2017))


def test_a_separator_without_features_is_refused():
    with pytest.raises(InputError, match="no column looks like features"):
        parse(SAMPLES["two columns"], ReadOptions(separator=";"))


@pytest.mark.parametrize("flags, message", [
    (["--columns=verb,form"], "--columns=verb,form: 'verb' is not one of input, features, output and - (ignored)"),
    (["--columns=input,features"], "--columns=input,features: output is missing"),
    (["--columns=input,input,output"], "--columns=input,input,output: input appears twice"),
    (["--columns=input,output", "--sigm2017format"], "--sigm2017format and --columns exclude each other"),
    (["--feature-separator=;", "--no-feat-format"], "--no-feat-format and --feature-separator exclude each other"),
    (["--feature-separator="], "--feature-separator takes what stands between features"),
    (["--feature-separator=a"], "--feature-separator takes what stands between features"),
    (["--columns=input,output", "--feature-separator=;"], "--feature-separator needs a column of features"),
    (["--unicode=nfkc"], "--unicode takes one of as-is, nfc, nfd, nfd-nfc, not 'nfkc'"),
])
def test_bad_flags(data, capsys, flags, message):
    assert error_of(capsys, "evaluate", *flags, data("dev"), data("dev")).startswith(message)


# A model and its data

def expecting(fmt):
    return ReadOptions(expected=fmt, because="the model was trained on")


def test_another_order_is_read_as_it_is_when_that_is_clear():
    assert parse(SAMPLES["2022"], expecting(SIGMORPHON2017)).samples[0] == Sample("alma", "N;ACC;PL", "almákat")
    assert parse(SAMPLES["UniMorph"], expecting(SIGMORPHON2022)).samples[0] == Sample("katt", "N;INDF;PL;NOM", "katter")
    assert parse(SAMPLES["covered 2017"], expecting(SIGMORPHON2022)).format is SIGMORPHON2022
    assert parse("a\tb\tc\n", expecting(SIGMORPHON2017)).samples == [Sample("a", "c", "b")]
    assert parse(SAMPLES["one column"], expecting(NO_FEATURES)).samples[0] == Sample("walk", "", None)


def test_a_mere_suspicion_of_another_order_is_refused():
    with pytest.raises(AmbiguousFormat, match="input 'huis', features 'PL', output 'huizen'"):
        parse(SAMPLES["single tags between"], expecting(SIGMORPHON2017))
    assert parse(SAMPLES["single tags between"], expecting(SIGMORPHON2022)).samples[0] == Sample("huis", "PL", "huizen")
    headed = "lemma\tmsd\tform\n" + SAMPLES["single tags between"]
    assert parse(headed, expecting(SIGMORPHON2017)).samples[0] == Sample("huis", "PL", "huizen")


def test_another_separator_is_refused():
    with pytest.raises(InputError, match="like sigmorphon2016: give data in the format that the model was trained on"):
        parse(SAMPLES["2016"], expecting(SIGMORPHON2017))


@pytest.mark.parametrize("order", [("input", "features", "output"), ("features", "input", "output")])
@pytest.mark.parametrize("separator", [",", "|"])
@pytest.mark.parametrize("times", [1, 24])
def test_another_separator_in_another_order_is_refused_with_what_to_do(order, separator, times):
    fmt = format_of(order, separator)
    words = [("train", "V;V.PTCP;PRS", "training"), ("walk", "V;PST", "walked"), ("play", "V;3;SG;PRS", "plays")]
    lines = [fmt.line(Sample(word, tag.replace(";", separator), None), form) for word, tag, form in words]
    text = "".join(line + "\n" for line in lines * times)
    assert parse(text).format == fmt
    with pytest.raises(InputError) as caught:
        parse(text, expecting(SIGMORPHON2017))
    tag = f"V{separator}V.PTCP{separator}PRS"
    assert str(caught.value) == (
        f'file, line 1: column {order.index("features") + 1} looks like features separated by "{separator}" ({tag!r}) '
        "instead of input, output, features separated by \";\"; file does not look like the sigmorphon2017 format "
        f"(--sigm2017format) but like {fmt.name}: give data in the format that the model was trained on")


def test_what_separates_the_features_does_not_hide_their_column():
    text = "gato\tN|X,PL\tgatos\nrojo\tN|X,SG\troja\n"
    with pytest.raises(InputError, match='column 2 looks like features separated by'):
        parse(text, expecting(SIGMORPHON2017))
    assert parse(text.replace("|", ";"), expecting(SIGMORPHON2017)).samples[0] == Sample("gato", "N;X,PL", "gatos")


def test_a_model_without_features_takes_no_features_for_outputs():
    text = "gato\tgatos\tN,PL\nrojo\troja\tADJ,SG\n"
    with pytest.raises(InputError, match='column 3 looks like features separated by ","'):
        parse(text, expecting(NO_FEATURES))
    sounds = "walk\t\tW,AO1,K\ntalk\t\tT,AO1,K\n"
    assert parse(sounds, expecting(NO_FEATURES)).samples[0] == Sample("walk", "", "W,AO1,K")


def test_the_format_of_the_model_holds_where_the_columns_are_in_its_order():
    text = "gato\tgatos\tN,PL\nrojo\troja\tADJ,SG\n"
    assert parse(text, expecting(SIGMORPHON2017)).samples[0] == Sample("gato", "N,PL", "gatos")


@pytest.mark.parametrize("command", ["predict", "score"])
def test_features_are_not_taken_for_outputs_by_a_model(trained, tmp_path, capsys, command):
    path = tmp_path / "other.tsv"
    path.write_text(as_2022(DEV).replace(";", ","), encoding="utf-8")
    assert "column 2 looks like features" in error_of(capsys, command, trained.model_path, str(path))


def test_all_parts_of_a_training_are_read_alike(tmp_path):
    names = {"train": SAMPLES["2022"], "dev": SAMPLES["2023"], "test": SAMPLES["covered 2017"]}
    for name, text in names.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    parts = read_parts(tmp_path / "train", tmp_path / "dev", tmp_path / "test", ReadOptions())
    assert parts.format is SIGMORPHON2022
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (3, 3, 2)
    assert parts.test[0] == Sample("huis", "N;PL", None)


def as_2022(samples) -> str:
    return "".join(f"{lemma}\t{tag}\t{form}\n" for lemma, tag, form in samples)


@pytest.fixture
def train_on(tmp_path):
    """A function that trains on this text as it is and gives what is in the results folder."""
    pytest.importorskip("dynet")

    def run(text, *flags):
        path = tmp_path / "any.tsv"
        path.write_text(text, encoding="utf-8")
        assert main(["train", *SMALL, *SHORT, *flags, str(path), str(path), str(tmp_path / "results")]) == 0
        return Run(tmp_path / "results")

    return run


@pytest.mark.parametrize("text, flags, name, pos", [
    (as_2017(TRAIN), [], "sigmorphon2017", ["<UNK>", "V", "N"]),
    (as_2016(TRAIN), [], "sigmorphon2016", ["<UNK>", "pos=V", "pos=N"]),
    (as_2022(TRAIN), [], "sigmorphon2022", ["<UNK>", "V", "N"]),
    (in_two_columns(TRAIN), [], "no-features", None),
    (as_2022(TRAIN).replace(";", "+"), ["--columns=input,features,output", "--feature-separator=+"],
     "input,features,output:+", ["<UNK>", "V", "N"]),
], ids=["2017", "2016", "2022", "two columns", "another"])
def test_a_model_keeps_the_format_that_was_recognised(train_on, caplog, text, flags, name, pos):
    caplog.set_level("INFO")
    run = train_on(text, *flags)
    assert f"any.tsv: {parse(text, ReadOptions(separator='+') if flags else RECOGNISED).description}" in caplog.text
    assert run.settings["format"] == name
    vocabulary = run.model.vocabulary
    assert (vocabulary.pos and vocabulary.pos.symbols) == pos
    assert vocabulary.format == format_named(name)


def test_predict_reads_the_order_of_the_file_and_writes_it_again(trained, tmp_path, capsys):
    path = tmp_path / "other.tsv"
    path.write_text(as_2022(DEV), encoding="utf-8")
    capsys.readouterr()
    assert main(["predict", trained.model_path, str(path)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [[lemma, tag, form] for lemma, form, tag in trained.predictions("beam4.dev")]


def test_predict_takes_the_columns_it_is_told(trained, tmp_path, capsys):
    path = tmp_path / "other.tsv"
    path.write_text("".join(f"{tag}\tx\t{lemma}\n" for lemma, tag, _ in DEV), encoding="utf-8")
    capsys.readouterr()
    assert main(["predict", "--columns=features,-,input,output", trained.model_path, str(path)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [[tag, "x", lemma, form] for lemma, form, tag in trained.predictions("beam4.dev")]


# All data there is

def files_of(table) -> list:
    """The data files of a table, as the runs of the paper name them."""
    root = SHARED / "data" / table.name
    found = set()
    for pattern in (table.train, table.dev, table.test):
        for language in table.languages:
            for setting in table.settings:
                for fold in table.folds or [""]:
                    names = {"LANGUAGE": language, "SETTING": setting, "FOLD": fold}
                    path = pattern
                    for word, value in names.items():
                        path = path.replace(word, value)
                    found.add(root / path)
    return sorted(found)


FLAGS = {"": SIGMORPHON2016, "--sigm2017format": SIGMORPHON2017, "--no-feat-format": NO_FEATURES}
BLANKS = "sigmorphon2017/task1/estonian-train-medium"
BLANKS_IN_FEATURES = {  # the first line with ADJ;ABL; PL, and how many there are
    "sigmorphon2017/task1/latin-dev": (173, 4), "sigmorphon2017/task1/latin-train-medium": (228, 8),
    "sigmorphon2017/task1/latin-uncovered-test": (225, 16),
}


@needs_shared
@pytest.mark.parametrize("name", [*OF_THE_PAPER, "g2p2020", "g2p2021"])
def test_every_data_file_is_read_as_what_it_is_without_false_alarm(name, caplog):
    table = load_table(name)
    files = files_of(table)
    root = SHARED / "data"
    assert set(files) == {path for path in (root / name).rglob("*") if path.is_file()}
    for path in files:
        data = read_data(path, need_output=True)
        assert data.format is FLAGS[table.format], path
        assert not data.rows.remarks, path
        assert_covered_part_is_recognised(data)
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    expected = [f"{root / BLANKS}: fields that begin or end with a blank, which is kept: 1 ('ei ole ')"]
    expected += [f"{root / path}, line {line}: the feature ' PL' differs from 'PL', which also occurs, "
                 f"only in blanks ({number} such line{'s' if number > 1 else ''})"
                 for path, (line, number) in BLANKS_IN_FEATURES.items()]
    assert warnings == (expected if name == "sigmorphon2017" else [])


def assert_covered_part_is_recognised(data):
    """The same lines without outputs, with and without a column for them."""
    some = data.samples[:40]
    for lines in ([data.format.line(sample, "") for sample in some],
                  [f"{sample.input}\t{sample.tag}".rstrip("\t") for sample in some]):
        covered = parse("".join(line + "\n" for line in lines))
        assert [sample.output for sample in covered.samples] == [None] * len(covered.samples)
        assert covered.format.separator == data.format.separator, data.name
        assert [(sample.input, sample.tag) for sample in covered.samples] == [
            (sample.input, sample.tag) for sample in data.samples[:40]], data.name


ORDERS = [("input", "output", "features"), ("input", "features", "output"), ("features", "input", "output")]


@needs_shared
@pytest.mark.parametrize("name, pattern", [("sigmorphon2016", "*-dev"), ("sigmorphon2017", "task1/*-train-low")])
@pytest.mark.parametrize("number", [5, 100])
def test_real_data_is_recognised_in_any_order_and_as_csv(name, pattern, number):
    fmt = FORMATS[name]
    files = sorted((SHARED / "data" / name).glob(pattern))
    assert len(files) >= 10
    for path in files:
        samples = read_samples(path, fmt)[:number]
        for order in ORDERS:
            lines = [format_of(order, fmt.separator).line(sample, sample.output) for sample in samples]
            text = "".join(line + "\n" for line in lines)
            assert parse(text).samples == parse(text, expecting(fmt)).samples == samples, (path, order)
        for delimiter in ",;":
            text = io.StringIO()
            rows = [(sample.input, sample.tag, sample.output) for sample in samples]
            csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
            assert parse(text.getvalue(), need_output=True).samples == samples, (path, delimiter)


# Anything else

PIECES = ["\t", "\n", "\r\n", ",", ";", "|", "=", '"', "#", " ", "(", ")", "\0", "\ufeff", "é", "e\u0301", "A", "1",
          "-0.5", "lemma", "form", "features", "walk", "V;PST", "pos=V", "⟪"]
WAYS = [ReadOptions(), *map(ReadOptions, FORMATS.values()), *map(expecting, FORMATS.values()),
        ReadOptions(separator=","), ReadOptions(unicode="nfd"),
        ReadOptions(columns=("input", "-", "features", "output")), ReadOptions(columns=("output", "input"))]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.sampled_from(WAYS), st.booleans())
def test_whatever_stands_in_a_file_is_read_or_refused(text, options, need_output):
    try:
        data = parse(text, options, need_output=need_output)
    except InputError as error:
        assert str(error).startswith("file")
    else:
        assert format_named(data.format.name) == data.format
        assert len(data.samples) == len(data.rows.rows) > 0
        assert data.description and len(data.warnings()) <= 5
