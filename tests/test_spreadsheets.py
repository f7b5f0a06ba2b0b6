"""What spreadsheets and editors do to data: headers, CSV, encodings, blanks, Unicode forms."""
import bz2
import gzip
import io
import json
import lzma
import sys
import unicodedata
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import il_morph
from il_morph.commands import main
from il_morph.data.formats import (
    NO_FEATURES,
    SIGMORPHON2016,
    SIGMORPHON2017,
    ReadOptions,
    Sample,
    format_of,
    parse_data,
    read_data,
    read_parts,
)
from il_morph.data.read_options import named_columns
from il_morph.data.reading import RECOGNISED
from il_morph.data.spelling import Letters
from il_morph.data.streaming import DataStream
from il_morph.errors import InputError
from tests.cli import SHORT, SMALL, TRAIN, Run, as_2017, error_of

OF_2017 = "walk\twalked\tV;PST\ngo\twent\tV;PST\n"
SAMPLES = [Sample("walk", "V;PST", "walked"), Sample("go", "V;PST", "went")]


def parse(text, options=RECOGNISED, name="file", **more):
    return parse_data(text if isinstance(text, bytes) else text.encode("utf-8"), name, options, **more)


def error(text, options=RECOGNISED, **more):
    with pytest.raises(InputError) as caught:
        parse(text, options, **more)
    return str(caught.value)


def zipped():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "<c>walk</c>" * 100)
    return content.getvalue()


# Header rows

@pytest.mark.parametrize("header, text", [
    ("lemma\tform\tfeatures", OF_2017), ("Lemma\tInflected form\tMSD", OF_2017), ("input\toutput\ttags", OF_2017),
    ("lemma\ttag\tword", "walk\tV;PST\twalked\ngo\tV;PST\twent\n"),
    ("source\tfeats\ttarget", "walk\tV;PST\twalked\ngo\tV;PST\twent\n"),
    ("features\tlemma\tform", "V;PST\twalk\twalked\nV;PST\tgo\twent\n"),
])
def test_a_header_row_is_recognised_said_and_skipped(header, text):
    data = parse(f"{header}\n{text}")
    assert data.samples == SAMPLES
    assert (data.first_line, data.description.count("header row skipped")) == (2, 1)
    assert data.format == parse(text).format


@pytest.mark.parametrize("header", [
    "Grundform\tWortform\tMerkmale", "lemme\tforme\ttraits", "lema\tforma\trasgos", "лемма\tсловоформа\tпризнаки",
    "Lema\tFlexión\tEtiqueta", "λήμμα\tτύπος\tχαρακτηριστικά", "lemma\tbøyningsform\ttrekk",
    "Lemma\tInflected-form\tUniMorph_tag",
    "forma podstawowa\tforma\tcechy", "kök\tbiçim\tözellikler", "perusmuoto\tmuoto\tpiirteet", "lemma\tform\tgloss"])
def test_header_rows_in_other_languages_are_recognised(header):
    data = parse(f"{header}\n{OF_2017}")
    assert data.samples == SAMPLES and "header row skipped" in data.description
    assert data.format == SIGMORPHON2017


@pytest.mark.parametrize("header, columns, row", [
    ("ID\tLemma\tFeatures\tForm\tSpeaker", "-,input,features,output,-", "{id}\t{input}\t{tag}\t{output}\tAB"),
    ("lemma\tgloss\tform\tmsd", "input,-,output,features", "{input}\tto {input}\t{output}\t{tag}"),
    ("nr\tlemma\tform", "-,input,output", "{id}\t{input}\t{output}"),
    ("Lemma\tVillage\tForm\tMSD\tPage seen", "input,-,output,features,-", "{input}\tx{id}\t{output}\t{tag}\t3{id}"),
])
def test_a_header_row_says_which_columns_are_ignored(header, columns, row):
    lines = [row.format(id=number, input=sample.input, tag=sample.tag, output=sample.output)
             for number, sample in enumerate(SAMPLES)]
    data = parse("\n".join([header, *lines]) + "\n", need_output=True)
    assert [(sample.input, sample.output) for sample in data.samples] == [(each.input, each.output) for each in SAMPLES]
    assert ",".join(data.format.columns) == columns
    assert [sample.tag for sample in data.samples] == [each.tag if "features" in columns else "" for each in SAMPLES]


def test_a_header_row_says_which_column_a_model_without_features_reads():
    options = ReadOptions(expected=NO_FEATURES, because="the model was trained on")
    data = parse("ID,Wort\n1,ging\n2,stand\n", options)
    assert [sample.input for sample in data.samples] == ["ging", "stand"]
    assert data.format.line(data.samples[0], "gehen") == "1\tging\tgehen"


def test_columns_of_a_kind_are_described_together():
    text = "lemma\tform\tpos\tcase\tvillage\tpage\nev\tevi\tN\tACC\tx\t3\n"
    assert parse(text).description.startswith(
        'input, output, 2 columns of features separated by ";", 2 columns that are ignored (1 line')


def test_a_header_row_says_which_column_a_model_inflects():
    options = ReadOptions(expected=SIGMORPHON2017, because="the model was trained on")
    data = parse("ID\tlemma\tmsd\n7\twalk\tV;PST\n8\tgo\tV;PST\n", options)
    assert data.samples == [Sample("walk", "V;PST", None), Sample("go", "V;PST", None)]
    assert error("ID\tlemma\tform\n7\twalk\twalked\n", options) == (
        "file, line 1: the header row names no features; give data in the format that the model was trained on")
    assert 'column 3 looks like features separated by ","' in error(
        "ID\tlemma\tmsd\n7\twalk\tV,PST\n8\tgo\tV,PST\n", options)


def test_numbers_are_not_proposed_as_inputs():
    text = "1\twalk\twalked\tV;PST\n2\tgo\twent\tV;PST\n"
    for options in (RECOGNISED, ReadOptions(expected=SIGMORPHON2017, because="the model was trained on")):
        assert "(--columns=-,input,output,features)" in error(text, options)


def test_columns_may_be_called_as_in_a_header_row():
    assert named_columns("ID,Lemma,Inflected-form,MSD,Speaker") == ("-", "input", "output", "features", "-")


def test_a_first_row_with_features_of_its_own_is_asked_about():
    words = ("walk", "play", "talk", "call", "ask")
    text = "".join(f"{word}\t{word}ed\tV;PST\n{word}\t{word}s\tV;PRS\n" for word in words)
    message = error("base_word\tderived_word\tgrammar\n" + text)
    assert message == ("file, line 1: base_word | derived_word | grammar: is this a header row? Its features occur "
                       "nowhere else. Remove it, or call its columns input,output,features; if it is data, say so with "
                       "--columns=input,output,features")
    columns = ("input", "output", "features")
    assert len(parse("base_word\tderived_word\tgrammar\n" + text, ReadOptions(columns=columns)).samples) == 11
    assert len(parse("be\twas\tV;PST;SG\n" + text).samples) == 11


def test_a_first_row_with_the_name_of_a_column_is_asked_about():
    assert "is this a header row? It has the name of a column" in error("lemma\twhatever\tpossibly\n" + OF_2017)
    assert "is this a header row?" in error("lemma\twhatever\n" + "walked\twalk\nwent\tgo\n")
    assert len(parse("stem\tstems\tV;PRS\n" + OF_2017).samples) == 3


def test_features_that_are_not_split_show_a_header_row_too():
    text = "".join(f"walk{number}\twalked\tV.PST.{number}\n" for number in range(12))  # no bundle comes twice
    assert "Its features occur nowhere else" in error("base_word\tderived_word\tgrammar\n" + text)


def test_columns_that_may_be_features_are_not_ignored_for_their_name():
    message = error("lemma\tform\tpos\tdegree\nwalk\twalked\tV\tPST\ngo\twent\tV\tPST\n")
    assert "4 columns, and it is not clear what they are" in message


def test_a_header_row_is_skipped_whatever_it_calls_several_columns_of_features():
    columns = ("input", "output", "features", "features")
    data = parse("lemma\tform\tpos\tdegree\nwalk\twalked\tV\tPST\n", ReadOptions(columns=columns))
    assert data.samples[0].tag == "V;PST" and "header row skipped" in data.description


# Features

@pytest.mark.parametrize("text, features", [
    ("walk;walked;V.PST.NOM(2,PL)\ngo;went;V.PST.NOM(2,SG)\n", ("V.PST.NOM(2,PL)",)),
    ("walk;V.PST.NOM(2,PL);walked\ngo;V.PST.NOM(2,SG);went\n", ("V.PST.NOM(2,PL)",)),
    ("walk\tV.PST.NOM(2,PL)\twalked\ngo\tV.PST.NOM(2,SG)\twent\n", ("V.PST.NOM(2,PL)",)),
    ("walk\tV,PST,NOM(2,PL)\twalked\ngo\tV,PST,NOM(2,SG)\twent\n", ("V", "PST", "NOM(2,PL)")),
])
def test_features_are_never_split_inside_brackets(text, features):
    data = parse(text, need_output=True)
    assert data.samples[0].output == "walked" and data.format.features(data.samples[0].tag) == features
    assert len(features) > 1 or "each bundle is one" in data.description


def test_separators_inside_other_brackets_are_warned_about():
    [warning] = parse("walk\twalked\tV;PST;NOM[2;PL]\ngo\twent\tV;PST;NOM[2;SG]\n").warnings()
    assert warning.startswith("file, line 1: the feature 'NOM[2' has a bracket without its partner")
    assert "2 such lines" in warning and not parse("walk\twalked\tV;{PST};NOM(2,PL)\ngo\twent\tV;PST\n").warnings()


def test_features_before_inputs_get_the_flag_that_reads_them():
    lines = "V;PST\twalk\nV;PRS\tgo\n"
    assert "say --columns=features,input,output" in error(lines)
    assert parse(lines, ReadOptions(columns=("features", "input", "output"))).samples[0].input == "walk"


def test_commas_between_columns_and_inside_brackets_are_refused():
    message = error("walk,walked,V;PST;NOM(2,PL)\ngo,went,V;PST;NOM(2,SG)\n", need_output=True)
    assert message.startswith("file, line 1: a comma stands inside brackets") and "quotation marks" in message
    quoted = parse('walk,walked,"V;PST;NOM(2,PL)"\ngo,went,"V;PST;NOM(2,SG)"\n', need_output=True)
    assert quoted.format.features(quoted.samples[0].tag) == ("V", "PST", "NOM(2,PL)")


@pytest.mark.parametrize("sign", [".", " ", "+", "><"])
def test_what_may_separate_features_is_offered(sign, caplog, tmp_path):
    path = tmp_path / "file"
    path.write_text(f"walk\twalked\tV{sign}PST(2,PL)\ngo\twent\tV{sign}PST(2,SG)\n")
    read_data(path)
    assert f'--feature-separator="{sign}"' in caplog.text and "is read as one feature" in caplog.text


def test_a_header_row_settles_what_the_lines_leave_open():
    lines = "walk\tpast\twalked\ngo\tpast\twent\n"
    assert parse(f"lemma\tfeatures\tform\n{lines}").samples[0] == Sample("walk", "past", "walked")
    assert parse("form\tlemma\nwalked\twalk\n").samples == [Sample("walked", "", "walk")]
    assert parse("lemma\tmsd\nwalk\tPST\ngo\tPST\n").samples[0] == Sample("walk", "PST", None)


@pytest.mark.parametrize("text, number", [
    ("word\twords\tN;PL\nform\tforms\tN;PL\n", 2),  # names of columns are words as well
    ("form\tforms\nlemma\tlemmas\n", 2),
    ("lemma\tform\n", 1),  # the only line
    ("lemma\nform\nword\n", 3),
])
def test_words_are_not_taken_for_a_header(text, number):
    assert len(parse(text).samples) == number


def test_errors_below_a_header_name_the_line_of_the_file():
    assert error("lemma\tform\tmsd\n" + OF_2017 + "a\tb\tV;PST\tc\n").startswith("file, line 4: 4 columns")
    assert error("lemma\tform\tmsd\n" + OF_2017 + "a\t\tV;PST\n").startswith("file, line 4: no output")


def test_a_header_that_contradicts_the_flags_is_refused():
    message = error("lemma\tfeatures\tform\nwalk\tpast\twalked\n", ReadOptions(SIGMORPHON2017))
    said = "file, line 1: the header row says input, features, output, but the sigmorphon2017 format"
    assert message.startswith(said)


def test_the_header_of_ignored_columns_does_not_matter():
    options = ReadOptions(columns=("input", "output", "features", "-"))
    assert parse("lemma\tform\tmsd\tsegments\nwalk\twalked\tV;PST\twalk-ed\n", options).samples == SAMPLES[:1]


# CSV

@pytest.mark.parametrize("text, remark", [
    ("walk,walked,V;PST\ngo,went,V;PST\n", 'CSV with ","'),
    ('walk;walked;"V;PST"\ngo;went;"V;PST"\n', 'CSV with ";"'),
    ('"walk","walked","V;PST"\r\n"go","went","V;PST"\r\n', 'CSV with ","'),
    ('lemma;msd;form\nwalk;"V;PST";walked\ngo;"V;PST";went\n', 'CSV with ";"; header row skipped'),
    ("\ufefflemma,form,msd,,\r\nwalk,walked,V;PST,,\r\ngo,went,V;PST,,\r\n",
     'CSV with ","; header row skipped; empty columns at the end left out'),
])
def test_csv_is_read(text, remark):
    data = parse(text, need_output=True)
    assert data.samples == SAMPLES
    assert data.description.endswith(f"(2 lines; {remark})")


def test_quotation_marks_of_csv_protect_commas_and_themselves():
    data = parse('gato,"pos=N,num=PL",gatos\n"say ""x""","pos=N,num=SG",y\n', need_output=True)
    assert data.format is SIGMORPHON2016
    assert data.samples == [Sample("gato", "pos=N,num=PL", "gatos"), Sample('say "x"', "pos=N,num=SG", "y")]


def test_csv_of_words_alone():
    assert parse("walk,walked\ngo,went\n", need_output=True).samples == [
        Sample("walk", "", "walked"), Sample("go", "", "went")]
    phrases = "yes, sir\nno, sir\n"
    assert [sample.input for sample in parse(phrases).samples] == ["yes, sir", "no, sir"]
    message = error(phrases * 6)
    assert "it is not clear what separates the columns" in message
    assert "  yes, sir  (one column)" in message and '  yes |  sir  (CSV with ",")' in message
    assert len(parse("walk,walked\n" * 12, name="words.csv").samples) == 12


@pytest.mark.parametrize("text", [
    "walk,walked,V;PST,\ngo,went,V;PST,\n", "walk,walked,V;PST,,\ngo,went,V;PST,,\n",
    "walk;walked;V,PST;\ngo;went;V,PST;\n".replace("V,PST", '"V;PST"'),
])
def test_empty_columns_at_the_end_do_not_hide_what_separates_the_others(text):
    data = parse(text, need_output=True)
    assert data.samples == SAMPLES
    assert "empty columns at the end left out" in data.description


@pytest.mark.parametrize("text", ["walk walked V;PST\nplay plays V;PRS\n", "walk walked V,PST\nplay plays V,PRS\n",
                                  "walk V;PST walked\nplay V;PRS plays\n", "walk V;PST\nplay V;PRS\n"])
@pytest.mark.parametrize("options", [ReadOptions(), ReadOptions(expected=SIGMORPHON2017,
                                                            because="the model was trained on")])
def test_columns_that_blanks_separate_are_not_read_as_csv(text, options):
    for need_output in (True, False):
        if need_output or options.expected:
            assert error(text, options, need_output=need_output) == (
                "file, line 1: the columns seem to be separated by blanks; separate them by tabs")


def test_csv_may_have_blanks_in_its_fields():
    phrases = "ice cream;ice creams\nhot dog;hot dogs\n"
    assert parse(phrases, need_output=True).samples[1] == Sample("hot dog", "", "hot dogs")
    assert parse(phrases.upper(), need_output=True).samples[1] == Sample("HOT DOG", "", "HOT DOGS")
    tagged = "ice cream,ice creams,N;PL\nhot dog,hot dogs,N;PL\n"
    assert parse(tagged).samples[1] == Sample("hot dog", "N;PL", "hot dogs")


@pytest.mark.parametrize("text, message", [
    ("walk,walked,V;PST\n" * 20 + 'go,"went,V;PST\n', "file, line 21: the quotation marks do not match"),
    ("walk,walked,V;PST\n" * 20 + "go,went\n", "file, line 21: no features, but other lines have some: 2 columns "
                                               "('go', 'went')"),
    ("walk,walked,V;PST\n" * 20 + "go,V;PST\n", "file, line 21: no output"),
    ("walk,walked,V;PST\n" * 20 + "go,went,V;PST,x\n", "file, line 21: 4 columns"),
    ("walk,walked,V;PST\n" * 20 + "\n" + "go,went,V;PST\n", "file, line 21: 1 column"),
])
def test_errors_in_csv_are_located(text, message):
    assert error(text, need_output=True).startswith(message)


def test_quotation_marks_between_tabs_are_kept_and_warned_about():
    data = parse('walk\t"walked"\tV;PST\n' + OF_2017)
    assert data.samples[0].output == '"walked"'
    assert data.warnings() == ["file: fields that stand in quotation marks, which are kept: 1 ('\"walked\"')"]


# Columns and lines

@pytest.mark.parametrize("text, options", [
    ("walk\twalked\tV;PST\t\t\ngo\twent\tV;PST\n", ReadOptions()),
    ("walk\twalked\tV;PST\t\ngo\twent\tV;PST\t\n", ReadOptions(SIGMORPHON2017)),
    ("walk\tV;PST\twalked\t\ngo\tV;PST\twent\t\n", ReadOptions()),
])
def test_empty_columns_at_the_end_are_left_out(text, options):
    data = parse(text, options)
    assert data.samples == SAMPLES
    assert "empty columns at the end left out" in data.description


def test_two_columns_and_an_empty_one():
    data = parse("walk\twalked\t\ngo\twent\t\n", need_output=True)
    assert data.format is NO_FEATURES
    assert data.samples == [Sample("walk", "", "walked"), Sample("go", "", "went")]
    assert parse("walk\tV;PST\t\ngo\tV;PST\t\n").samples == [Sample("walk", "V;PST", None), Sample("go", "V;PST", None)]


@pytest.mark.parametrize("text, options, message", [
    (OF_2017 + "\n" + OF_2017, ReadOptions(), "file, line 3: 1 column, but the sigmorphon2017 format"),
    (OF_2017 + "\t\t\n" + OF_2017, ReadOptions(), "file, line 3: the line is blank: remove it"),
    ("walk\ngo\n\ntalk\n", ReadOptions(), "file, line 3: the line is blank: remove it"),
    ("# my data\n" + OF_2017, ReadOptions(), "file, line 1: 1 column, but"),
    ("walked\t\twalk\n# more\nwent\t\tgo\n", ReadOptions(NO_FEATURES),
     "file, line 2: the line looks like a comment: remove it"),
    ("walked\t\twalk\n# more\tor\nwent\t\tgo\n", ReadOptions(),
     "file, line 2: the line looks like a comment: remove it"),
])
def test_blank_lines_and_comments_are_refused_by_line(text, options, message):
    said = error(text, options)
    assert said.startswith(message) and "remove it" in said


@pytest.mark.parametrize("line, missing", [
    ("play\tplays", "features"), ("play\tV;PRS", "output"), ("play\tV", "output"), ("play\t\tV;PST", "output"),
])
def test_the_column_that_is_missing_on_a_line_is_named(line, missing):
    text = f"walk\twalked\tV;PST\nplay\tplayed\tV;PST\n{line}\n"
    for options in (ReadOptions(), ReadOptions(expected=SIGMORPHON2017, because="the model was trained on"),
                    ReadOptions(SIGMORPHON2017)):
        message = error(text, options)
        assert message.startswith(f"file, line 3: no {missing}, but other lines have")


def test_the_column_that_is_missing_far_down_in_a_file_is_named(tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text(OF_2017 * 5000 + "play\tplays\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 10001: no features, but other lines have some"):
        list(DataStream(path, ReadOptions(expected=SIGMORPHON2017, because="the model was trained on")))


def test_a_hash_sign_is_a_character_like_others():
    assert parse("#walk\t#walked\tV;PST\n" + OF_2017).samples[0] == Sample("#walk", "V;PST", "#walked")
    assert [sample.input for sample in parse("#1\n#2\n").samples] == ["#1", "#2"]


# Encodings

@pytest.mark.parametrize("encoding, conversion", [
    ("utf-16-le", "iconv -f UTF-16LE -t UTF-8 file > NEW"),
    ("utf-16-be", "iconv -f UTF-16BE -t UTF-8 file > NEW"), ("cp1252", "iconv -f WINDOWS-1252 -t UTF-8 file > NEW"),
])
def test_other_encodings_are_named_with_the_command_that_converts(encoding, conversion):
    message = error("hören\tgehört\tV;PTCP\nkönnen\t„gekonnt“\tV;PTCP\n".encode(encoding))
    assert message.startswith("file, line 1: not UTF-8; convert the file to UTF-8")
    assert conversion in message


def test_cyrillic_is_told_from_western_letters():
    text = "дом\tдома\tN;PL\nкот\tкоты\tN;PL\nслон\tслоны\tN;PL\n"
    assert "iconv -f WINDOWS-1251" in error(text.encode("cp1251"))


@pytest.mark.parametrize("encoding, text, likely", [
    ("cp1254", "kuş\tkuşlar\tN;PL\ndağ\tdağlar\tN;PL\nkapı\tkapılar\tN;PL\n", "  kuş  iconv -f WINDOWS-1254"),
    ("cp1250", "żaba\tżaby\tN;PL\nłąka\tłąki\tN;PL\nręka\tręce\tN;PL\n", "iconv -f WINDOWS-1250"),
    ("cp1253", "σπίτι\tσπίτια\tN;PL\nδρόμος\tδρόμοι\tN;PL\n", "iconv -f WINDOWS-1253"),
    ("cp1257", "žmogus\tžmonės\tN;PL\nšuo\tšunys\tN;PL\n", "  žmogus  iconv -f WINDOWS-1257"),
    ("iso8859-2", "żaba\tżaby\tN;PL\nłąka\tłąki\tN;PL\nręka\tręce\tN;PL\n", "  żaba  iconv -f ISO-8859-2"),
    ("cp866", "дом\tдома\tN;PL\nкот\tкоты\tN;PL\nслон\tслоны\tN;PL\n", "  дом  iconv -f IBM866"),
    ("mac_roman", "élève\télèves\tN;PL\ngarçon\tgarçons\tN;PL\n", "  élève  iconv -f MACINTOSH"),
    ("koi8-r", "дом\tдома\tN;PL\nкот\tкоты\tN;PL\nслон\tслоны\tN;PL\n", "  дом  iconv -f KOI8-R"),
    ("cp1252", "niño\tniños\tN;PL\naño\taños\tN;PL\n", "iconv -f WINDOWS-1252"),
])
def test_encodings_in_which_a_file_has_words_are_shown_with_a_word_in_each(encoding, text, likely):
    message = error(text.encode(encoding))
    assert likely in message
    assert message.count("iconv") == message.count("\n") - 1 <= 4
    assert message.endswith("if none is, save the file as UTF-8 in the program that wrote it")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_with_a_byte_order_mark_is_read(encoding, tmp_path, caplog):
    caplog.set_level("INFO")
    text, mark = OF_2017 * 4_000, "" if encoding == "utf-16" else "\ufeff"
    path = tmp_path / "wide.tsv"
    path.write_bytes((mark + text).encode(encoding))
    expected = parse(text).samples
    assert read_data(path).samples == expected
    assert f"{path}: read as UTF-16, which its byte order mark names" in caplog.messages
    blocks = list(DataStream(path, ReadOptions(expected=SIGMORPHON2017, because="the model was trained on")))
    assert len(blocks) > 1 and [sample for block in blocks for sample in block.samples] == expected


def test_parts_of_a_file_in_utf16_are_utf8(tmp_path):
    path = tmp_path / "wide.tsv"
    path.write_bytes("".join(f"büro{n}\tbüros{n}\tN;PL\n" for n in range(20)).encode("utf-16"))
    assert main(["split", str(path)]) == 0
    parts = [part.read_text(encoding="utf-8") for part in sorted(tmp_path.glob("wide-split/*.tsv"))]
    assert len(parts) == 3 and sorted("".join(parts).splitlines()) == sorted(
        f"büro{n}\tbüros{n}\tN;PL" for n in range(20))


def test_broken_utf16_is_refused():
    assert error(b"\xff\xfea\x00\x00\xd8b\x00\n\x00") == (
        "file begins like UTF-16 but is not valid UTF-16: save it again, as UTF-8")


def test_one_broken_line_among_utf8_is_not_converted():
    data = "hören\tgehört\tV;PTCP\n".encode() + "können\tgekonnt\tV;PTCP\n".encode("latin-1")
    message = error(data)
    assert message.startswith("file, line 2: not UTF-8") and "iconv" not in message


@pytest.mark.parametrize("data, message", [
    (zipped(), "file is not a text file but a zip archive, as .xlsx and .ods files are: "
               "save a spreadsheet as CSV in UTF-8, and unpack other archives"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
     "file is not a text file but an old Office file, as .xls files are: save the spreadsheet as CSV in UTF-8"),
    (gzip.compress(OF_2017.encode()), "file is compressed: unpack it with gzip -dc < file > NEW"),
    (bz2.compress(OF_2017.encode()), "file is compressed: unpack it with bzip2 -dc < file > NEW"),
    (lzma.compress(OF_2017.encode()), "file is compressed: unpack it with xz -dc < file > NEW"),
], ids=["zip", "xls", "gz", "bz2", "xz"])
def test_spreadsheets_and_compressed_files_are_named_with_what_to_do(tmp_path, capsys, data, message):
    assert error(data) == message
    path = tmp_path / "words.xlsx"
    path.write_bytes(data)
    assert message.replace("file", str(path), 1).split(":")[0] in error_of(capsys, "align", str(path))


def test_words_that_begin_like_compressed_files_are_words():
    assert parse("BZhang\tBZhangs\tN;PL\nPKW\tPKWs\tN;PL\n").samples[0].input == "BZhang"
    assert parse("PKW\tPKWs\tN;PL\n").samples[0].input == "PKW"


def test_old_line_ends_are_named():
    assert "tr '\\r' '\\n'" in error("walk\twalked\tV;PST\rgo\twent\tV;PST\r")


# Blanks and Unicode forms

def test_blanks_are_kept_and_counted():
    data = parse("walk \twalked\tV;PST\ngo\t went\tV;PST\n")
    assert data.samples == [Sample("walk ", "V;PST", "walked"), Sample("go", "V;PST", " went")]
    assert data.warnings() == ["file: fields that begin or end with a blank, which is kept: 2 ('walk ', ' went')"]
    assert parse("ice cream\tice creams\tN; PL\n" * 2).warnings() == []


def test_empty_features_are_kept_and_warned_about_by_line():
    data = parse("walk\twalked\tV;PST\nplay\tplays\tV;;PRS\ngo\tgoes\tV;PRS;\nsay\tsays\tV;;PRS\n")
    assert data.format.features(data.samples[1].tag) == ("V", "", "PRS")
    assert data.warnings() == ["file, line 2: a feature is empty, and counts as one (3 such lines)"]
    assert parse("walk\twalked\tV;PST\nplay\tplays\t\n").warnings() == []  # no features at all
    assert parse("walked\t\twalk\n", ReadOptions(NO_FEATURES)).warnings() == []


def test_features_that_differ_by_a_blank_alone_are_kept_and_warned_about_by_line():
    data = parse("walk\twalked\tV;PST\nplay\tplayed\tV; PST\ngo\twent\tV; PST \n")
    assert data.format.features(data.samples[1].tag) == ("V", " PST")
    assert data.warnings()[1:] == ["file, line 2: the feature ' PST' differs from 'PST', which also occurs, "
                                   "only in blanks (2 such lines)"]


def test_unknown_features_of_blanks_or_nothing_are_shown_as_such(trained, tmp_path, caplog):
    inputs = tmp_path / "inputs"
    inputs.write_text("walk\tV;;PST\ntalk\tV; PST\n", encoding="utf-8")
    assert main(["predict", trained.model_path, str(inputs)]) == 0
    assert "does not know and leaves out: '' (1), ' PST' (1)" in caplog.text
    assert f"{inputs}, line 1: a feature is empty, and counts as one (1 such line)" in caplog.text


COMPOSED, DECOMPOSED = "é", "e\u0301"


def mixed(first, second):
    return f"caf{first}\tcaf{first}s\tN;PL\ncr{second}pe\tcr{second}pes\tN;PL\n"


def test_a_letter_in_two_spellings_is_warned_about():
    (warning,) = parse(mixed(COMPOSED, DECOMPOSED)).warnings()
    assert warning.startswith("file writes é as one character (2 times) and as a letter with a combining mark "
                              "(2 times)")
    assert parse(mixed(COMPOSED, COMPOSED)).warnings() == parse(mixed(DECOMPOSED, DECOMPOSED)).warnings() == []
    assert parse(mixed(COMPOSED, "o\u0302")).warnings() == []  # different letters


@pytest.mark.parametrize("form", ["nfc", "nfd"])
def test_unicode_forms_on_request(form):
    data = parse(mixed(COMPOSED, DECOMPOSED), ReadOptions(unicode=form))
    assert data.warnings() == []
    assert all(unicodedata.is_normalized(form.upper(), sample.input + sample.output) for sample in data.samples)
    assert f"normalised to {form.upper()}" in data.description
    assert parse(mixed(COMPOSED, DECOMPOSED)).samples[1].input == f"cr{DECOMPOSED}pe"


@given(st.text("aeiouáéíó\u0301\u0302각가", max_size=20))
def test_a_text_in_one_form_never_clashes_with_itself(text):
    for form in ("NFC", "NFD"):
        letters = Letters.of(unicodedata.normalize(form, text))
        assert letters.spelled_otherwise(letters) == []


def test_files_in_two_forms_are_warned_about(tmp_path, caplog):
    gold, predictions = tmp_path / "train", tmp_path / "dev"
    gold.write_text(mixed(COMPOSED, COMPOSED), encoding="utf-8")
    predictions.write_text(mixed(DECOMPOSED, DECOMPOSED), encoding="utf-8")
    read_parts(gold, predictions, None, ReadOptions())
    assert (f"{gold} writes é as one character (4 times) and {predictions} as a letter with a combining mark "
            "(4 times); --unicode=nfc") in caplog.text
    caplog.clear()
    read_parts(predictions, gold, None, ReadOptions())
    assert f"{gold} writes é as one character (4 times) and {predictions} as a letter" in caplog.text
    caplog.clear()
    read_parts(gold, predictions, None, ReadOptions(unicode="nfc"))
    assert "combining mark" not in caplog.text


def test_evaluate_names_and_mends_a_difference_of_forms(tmp_path, capsys):
    gold, predictions = tmp_path / "gold", tmp_path / "predictions"
    gold.write_text(mixed(COMPOSED, COMPOSED), encoding="utf-8")
    predictions.write_text(mixed(DECOMPOSED, DECOMPOSED), encoding="utf-8")
    assert "compare them with --unicode=nfc" in error_of(capsys, "evaluate", str(gold), str(predictions))
    assert main(["evaluate", "--unicode=nfc", str(gold), str(predictions)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["accuracy", "100.0000"]


def test_ensemble_says_how_to_bring_predictions_into_one_form(tmp_path, capsys):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text(mixed(COMPOSED, COMPOSED), encoding="utf-8")
    other.write_text(mixed(DECOMPOSED, DECOMPOSED), encoding="utf-8")
    message = error_of(capsys, "ensemble", "-", str(one), str(other))
    assert message.rstrip().endswith("they differ in their Unicode forms: predict both with "
                                     "the same --unicode, for example nfc")


def test_evaluate_warns_of_outputs_in_another_form(tmp_path, capsys, caplog):
    gold, predictions = tmp_path / "gold", tmp_path / "predictions"
    gold.write_text(f"cafe\tcaf{COMPOSED}s\tN;PL\n", encoding="utf-8")
    predictions.write_text(f"cafe\tcaf{DECOMPOSED}s\tN;PL\n", encoding="utf-8")
    assert main(["evaluate", str(gold), str(predictions)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["accuracy", "0.0000"]
    assert f"{gold} writes é as one character (1 times) and {predictions} as a letter with" in caplog.text


@pytest.fixture
def accented(tmp_path):
    """A model trained with --unicode=nfd on composed letters."""
    pytest.importorskip("dynet")
    path = tmp_path / "train.tsv"
    path.write_text(mixed(COMPOSED, COMPOSED) + as_2017(TRAIN), encoding="utf-8")
    assert main(["train", *SMALL, *SHORT, "--unicode=nfd", str(path), str(path), str(tmp_path / "results")]) == 0
    return Run(tmp_path / "results")


def test_a_model_keeps_its_unicode_form_and_predict_follows(accented, tmp_path, capsys):
    assert accented.settings["unicode"] == "nfd"
    assert COMPOSED not in accented.model.vocabulary.characters and "\u0301" in accented.model.vocabulary.characters
    inputs = tmp_path / "inputs"
    inputs.write_text(f"caf{COMPOSED}\tN;PL\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["predict", accented.model_path, str(inputs)]) == 0
    (row,) = capsys.readouterr().out.splitlines()
    assert row.startswith(f"caf{DECOMPOSED}\t")
    predictor = il_morph.load(accented.model_path)
    assert predictor.predict([(f"caf{COMPOSED}", "N;PL")]) == predictor.predict([(f"caf{DECOMPOSED}", "N;PL")])


def test_predict_warns_of_letters_in_another_form(accented, tmp_path, caplog):
    inputs = tmp_path / "inputs"
    inputs.write_text(f"caf{COMPOSED}\tN;PL\n", encoding="utf-8")
    assert main(["predict", "--unicode=as-is", accented.model_path, str(inputs)]) == 0
    assert "the model was trained on é in another Unicode form: --unicode=nfd normalises the inputs" in caplog.text


# Features that a model does not know

def test_unknown_features_are_counted_with_examples(trained, tmp_path, caplog):
    inputs = tmp_path / "inputs"
    inputs.write_text("walk\tV;FUT;3\ntalk\tV;FUT\nbake\tADJ;PST\ndog\tN;PL\n", encoding="utf-8")
    assert main(["predict", trained.model_path, str(inputs)]) == 0
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == ["3 of 4 inputs have features or parts of speech that the model does not know and leaves out: "
                        "FUT (2), 3 (1), part of speech ADJ (1)"]


def test_python_callers_are_warned_too(trained, caplog):
    predictor = il_morph.load(trained.model_path)
    predictor.predict([("walk", "V;PST")])
    assert caplog.text == ""
    predictor.predict([("walk", "V,PST")])
    assert "1 of 1 inputs have features" in caplog.text and "part of speech V,PST" in caplog.text


# One line on standard error

def test_every_command_says_how_it_reads_a_file(trained, data, tmp_path, caplog):
    said = 'input, output, features separated by ";" (4 lines)'
    caplog.set_level("INFO")
    for arguments in (["predict", trained.model_path, data("dev"), str(tmp_path / "predictions")],
                      ["evaluate", data("dev"), str(tmp_path / "predictions")],
                      ["align", "--align-cls", data("dev")],
                      ["ensemble", str(tmp_path / "vote"), data("dev"), data("dev")]):
        caplog.clear()
        assert main(arguments) == 0
        assert f"{data('dev')}: {said}" in [record.getMessage() for record in caplog.records]


def test_ensemble_recognises_n_best_predictions(trained, data, tmp_path, capsys):
    best = str(tmp_path / "best")
    assert main(["predict", "--nbest=3", trained.model_path, data("dev"), best]) == 0
    capsys.readouterr()
    assert main(["ensemble", "-", best, best]) == 0
    assert capsys.readouterr().out == trained.text("f.beam4.dev.predictions")


def test_gold_and_predictions_with_headers_are_scored_line_by_line(tmp_path, capsys):
    gold, predictions = tmp_path / "gold.csv", tmp_path / "predictions.tsv"
    gold.write_text("lemma,form,msd\nwalk,walked,V;PST\ngo,went,V;PST\n", encoding="utf-8")
    predictions.write_text("walk\twalked\tV;PST\ngo\tgoed\tV;PST\n", encoding="utf-8")
    assert main(["evaluate", "--format=json", str(gold), str(predictions)]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["accuracy"] == 50
    predictions.write_text("walk\twalked\tV;PST\n", encoding="utf-8")
    assert f"{gold}, line 3 has no counterpart" in error_of(capsys, "evaluate", str(gold), str(predictions))


def test_a_stream_is_read_without_a_word_if_it_is_as_expected(caplog, monkeypatch):
    caplog.set_level("INFO")

    def said(text, options):
        caplog.clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8"))))
        read_data("-", options)
        return caplog.messages

    model = ReadOptions(expected=SIGMORPHON2017, because="the model was trained on")
    assert said(OF_2017, model) == []
    assert said("walk\tV;PST\twalked\n", model) == ['standard input: input, features separated by ";", output (1 line)']
    assert said(OF_2017, ReadOptions()) == ['standard input: input, output, features separated by ";" (2 lines)']


# Header rows that other people write

@pytest.mark.parametrize("options", [RECOGNISED, ReadOptions(expected=SIGMORPHON2017, because="the model has"),
                                     ReadOptions(columns=("input", "output", "features"))])
def test_a_header_row_alone_is_no_data(options):
    assert error("lemma\tform\tfeatures\n", options) == (
        "file has only a header row: it needs at least one line of data")


def test_a_header_row_in_the_middle_is_named():
    sheet = "lemma\tform\tmsd\n" + OF_2017
    assert error(sheet + sheet) == "file, line 4: the header row of line 1 comes again: remove it"


@pytest.mark.parametrize("header, columns", [
    ("Lemma\tWortart\tForm\tTempus", "input,features,output,features"),
    ("Lemma\tForm\tPOS\tNumber\tPerson", "input,output,features,features,features"),
    ("Número\tLema\tForma\tRasgos", "-,input,output,features"),
])
def test_categories_of_grammar_are_features_and_numbers_of_lines_are_not(header, columns):
    values = {"input": "gehen", "output": "ging", "features": "PST", "-": "1"}
    line = "\t".join(values[column] for column in columns.split(","))
    data = parse(f"{header}\n{line}\n{line}\n")
    assert ",".join(data.format.columns) == columns and len(data.samples) == 2


def test_columns_that_the_header_names_are_proposed():
    rows = "gehen\tV\tging\tx\ngehen\tV\tgeht\ty\n"
    message = error("Lemma\tSorte\tForm\tBeleg\n" + rows)
    assert "4 columns, and it is not clear what they are" in message
    assert "(--columns=input,features,output,-)" in message


def test_tags_are_not_ignored_for_the_name_of_their_column():
    assert "is this a header row? It has the name of a column" in error("lemma\tform\tnotes\n" + OF_2017)
    assert parse("lemma\tform\tnotes\nwalk\twalked\tsaid so\ngo\twent\tnot sure\n").samples[0].tag == ""


def test_the_names_of_columns_may_be_decomposed():
    header = unicodedata.normalize("NFD", "Lema\tFlexión\tEtiqueta")
    assert parse(f"{header}\n{OF_2017}").samples == SAMPLES


@pytest.mark.parametrize("header, reason", [
    ("0\t1\t2", "It has the numbers of columns"), ("token\tlemma", "It has the name of a column")])
def test_what_programs_put_into_the_first_row_is_asked_about(header, reason):
    lines = "walk\twalked\tV;PST;1\ngo\twent\tV;PST;1\n" if header.startswith("0") else "walked\twalk\nwent\tgo\n"
    assert f"is this a header row? {reason}" in error(f"{header}\n{lines}")


def test_the_name_of_a_single_column_is_said_to_be_read_as_a_word():
    [warning] = parse("Wortform\nhaus\nmaus\n").warnings()
    assert warning == ("file, line 1: 'Wortform' is read as a word; if it is the name of the column, remove it")
    assert not parse("haus\nWortform\n").warnings() and not parse("Wortform\n").warnings()


def test_a_model_of_data_with_more_columns_takes_the_columns_that_a_header_names():
    options = ReadOptions(expected=format_of(("-", "input", "output", "features", "-"), ";"), because="the model has")
    assert parse("Lemma;Merkmale\nwalk;PST\ngo;PRS\n", options, name="w.csv").samples == [
        Sample("walk", "PST", None), Sample("go", "PRS", None)]


def test_a_bracket_without_its_partner_does_not_hide_the_columns():
    text = "".join(f"haus{number};häuser{number}\n" for number in range(12)) + "maus(;mäuse\n1);eins\n"
    assert parse(text, name="words.csv").samples[-2] == Sample("maus(", "", "mäuse")


def test_empty_inputs_are_counted():
    text = OF_2017 + "\tate\tV;PST\n\tran\tV;PST\n"
    assert parse(text).warnings() == ["file, line 3: the input is empty (2 such lines)"]


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-be"])
def test_utf32_is_not_taken_for_utf16(encoding):
    mark = b"" if encoding == "utf-32" else b"\0\0\xfe\xff"
    assert "iconv -f UTF-32 -t UTF-8 file > NEW" in error(mark + OF_2017.strip().encode(encoding))


def test_some_outputs_may_be_missing_where_they_are_not_read(trained, tmp_path, capsys):
    path = tmp_path / "half"
    path.write_text("".join(f"{lemma}\t{tag}\t\n" for lemma, tag, _ in TRAIN) + "walk\tV;PST\twalked\n")
    assert main(["predict", "--columns=input,features,output", str(trained.model_path), str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(TRAIN) + 1
    assert "no output, but other lines have one" in error_of(
        capsys, "score", "--columns=input,features,output", str(trained.model_path), str(path))


def test_predictions_do_not_replace_the_data_that_was_read(trained, tmp_path, capsys):
    path = tmp_path / "words"
    path.write_text("walk\tV;PST\n")
    command = ("predict", "--force", str(trained.model_path), str(path), str(path))
    assert "is data that is read" in error_of(capsys, *command)
    assert path.read_text() == "walk\tV;PST\n"
