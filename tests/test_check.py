"""`il-morph check`, the line at the start of `train`, and what `predict` says about letters and features."""
import json

import pytest

from il_morph.commands import main
from il_morph.data.checking import check_file, check_together, listed, scripts_of, summary
from il_morph.data.formats import ReadOptions, parse_data
from il_morph.data.samples import Sample
from il_morph.errors import InputError
from il_morph.evaluation.comparison import compare, p_in_words
from il_morph.model.combination import VotingPredictor
from il_morph.model.other_data import refuse_other_data
from il_morph.model.predictor import Predictor
from il_morph.model.unknown import Unknown
from il_morph.report.answers import Answers
from tests.cli import error_of
from tests.random_models import TAGGED, random_model
from tests.test_decoding import ending_model

ODD = """kitap\tkitabı\tN;ACC;SG
kitap\tkitapları\tN;ACC;PL
kitap\tkitapı\tN;ACC;SG
kitap\tkitapları\tN;ACC;PL
ev\tevi\tn;ACC;SG
el\teli\tN;SG;ACC
göz\tgözü\tACC;N;SG
g\u043ez\tgözü\tN;ACC;SG
su\tsuyu\tN;ACC;SG
at\tatı\tN;ACC;SG
ot\totu\tN;ACC;SG
it\titi\tN;ACC;SG
et\teti\tN;ACCC;SG
"""


def data_of(text: str, name: str = "odd.tsv"):
    return parse_data(text.encode("utf-8"), name)


def found(text: str, kind: str) -> list:
    return [(finding.lines, finding.what) for finding in check_file(data_of(text)) if finding.kind == kind]


@pytest.mark.parametrize("kind, expected", [
    ("contradictions", [([1, 3], "kitap + N;ACC;SG → kitabı or kitapı")]),
    ("duplicates", [([4], "the same as an earlier line")]),
    ("features in another case", [([5], "n and N differ only in case")]),
    ("features in another order", [([6], "N;SG;ACC is elsewhere N;ACC;SG"), ([7], "ACC;N;SG is elsewhere N;ACC;SG")]),
    ("misspelt features", [([13], "ACCC (once) may be ACC (12 times)")]),
    ("mixed scripts", [([8], "letters of two scripts in one line: g\u043ez (Cyrillic and Latin)")]),
    ("long lines", []), ("empty fields", []),
])
def test_what_looks_wrong_is_found_with_its_lines(kind, expected):
    assert found(ODD, kind) == expected


def test_features_with_other_separators_and_in_other_columns_are_found():
    odd = ODD + "mit\tmiti\tN.ACC.SG\nbit\tN;ACC;SG\tbiti\n"
    assert found(odd, "other feature separators") == [([14], '"." separates features in N.ACC.SG, elsewhere ";"')]
    assert found(odd, "features in another column") == [([15], "the output looks like features (N;ACC;SG)")]


def test_a_half_filled_sheet_is_checked(tmp_path, capsys):
    (tmp_path / "half.tsv").write_text(ODD + "mit\t\tN;ACC;SG\nmit\tmiti\tN;ACC;SG\n", encoding="utf-8")
    assert main(["check", str(tmp_path / "half.tsv")]) == 0
    said = capsys.readouterr().out
    assert "empty fields: line 14: the output is empty" in said and "mit + N;ACC;SG" not in said


def test_lines_are_counted_from_the_header_row():
    assert found("lemma\tform\ttag\n" + ODD, "duplicates") == [([5], "the same as an earlier line")]


def test_a_feature_that_is_first_here_and_later_there_is_found():
    (lines, what), (others, _) = found(ODD, "first features")
    assert lines == others == [7] and what.startswith("N comes first 11 times and later once; the first feature is")


def test_rare_characters_long_lines_and_empty_fields_are_found():
    text = "aba\tabab\tN;PL\n" * 3 + "ab\tabø\tN;PL\n" + "ab" * 30 + "\tab\tN;PL\n" + "ab\ta\t\n"
    assert found(text, "rare characters") == [([4], "1 character occurs in one line alone: ø (U+00F8)")]
    assert found(text, "long lines")[0][0] == [5] and found(text, "empty fields") == [([6], "the features are empty")]


def test_features_that_are_not_split_are_found():
    lines = "".join(f"{word}\t{word}ed\tV.PST\n" for word in ("walk", "play", "talk"))
    [(_, what)] = found(lines, "spelling")
    assert '--feature-separator="."' in what


def test_odd_spellings_have_their_lines():
    lines = "göz\tgözü\tN;ACC\nsöz\tsözü \tN;ACC\n\"ot\"\totu\tN;ACC\nko\u0308y\tköyü\tN;ACC\n"
    assert [indices for indices, _ in found(lines, "spelling")] == [[2], [4], [3]]


def test_clean_data_has_no_findings():
    clean = "".join(f"{a}{b}{c}\t{a}{b}{c}s\tN;PL\n" for a in "ab" for b in "ab" for c in "ab")
    assert check_file(data_of(clean)) == [] and summary([]) == ""


@pytest.mark.parametrize("word, scripts", [("kitap", {"LATIN"}), ("дом", {"CYRILLIC"}), ("食べる", {"JAPANESE"}),
                                           ("a1-", {"LATIN"}), ("dо", {"LATIN", "CYRILLIC"}), ("kʼa", {"LATIN"})])
def test_scripts_are_those_of_the_letters(word, scripts):
    assert scripts_of(word) == scripts


def test_the_other_files_are_compared_with_the_first():
    other = data_of("kitap\tkitabı\tN;ACC;SG\nat\tatım\tN;ACC;SG\nbal\tbala\tN;DAT;SG\n", "dev.tsv")
    facts = {finding.kind: (finding.lines, finding.what) for finding in check_together(data_of(ODD), other)}
    assert facts["shared lines"][0] == [1] and facts["contradictions"][0] == [2]
    assert facts["shared inputs"] == ([1, 2], "67 % of the lines have an input of odd.tsv")
    assert facts["new features"] == ([3], "not in odd.tsv: 'DAT'")


def test_people_see_the_first_of_many_findings():
    many = "".join(f"w{n}\ta\tN;PL\nw{n}\tb\tN;PL\n" for n in range(30))
    findings = [finding for finding in check_file(data_of(many)) if finding.kind == "contradictions"]
    assert len(findings) == 30 and len(listed(findings)) == 21 and listed(findings)[-1].what == "and 10 more"
    assert summary(findings) == "contradictions (60 lines)"


# The command

@pytest.fixture
def odd(tmp_path):
    (tmp_path / "odd.tsv").write_text(ODD, encoding="utf-8")
    return tmp_path / "odd.tsv"


def test_the_command_lists_findings_as_text_json_and_page(odd, capsys):
    assert main(["check", str(odd), str(odd)]) == 0
    text = capsys.readouterr().out
    assert f"{odd}: input, output, features separated by \";\" (13 lines)\n  contradictions: lines 1, 3: kitap" in text
    assert "shared lines: lines 1, 2, 3, 4, 5, 6, 7, 8, … (13 in all): also in" in text
    assert main(["check", "--format=json", str(odd)]) == 0
    listed_file, = json.loads(capsys.readouterr().out)
    assert listed_file["lines"] == 13 and listed_file["findings"][0]["lines"] == [1, 3]
    page = odd.with_name("page.html")
    assert main(["check", "--format=html", f"--output={page}", str(odd)]) == 0
    assert "<h1>Check of the data</h1>" in page.read_text("utf-8")
    assert "exists already" in error_of(capsys, "check", f"--output={page}", str(odd))
    assert "is data that is read" in error_of(capsys, "check", "--force", f"--output={odd}", str(odd))
    assert odd.read_text("utf-8") == ODD


def test_a_training_starts_with_the_check_in_a_line(odd, tmp_path, caplog, numpy_kernels):
    sizes = ["--epochs=1", "--input=8", "--enc-hidden=8", "--dec-hidden=8", "--engine=native"]
    assert main(["train", *sizes, str(odd), str(odd), str(tmp_path / "r")]) == 0
    assert "the data has contradictions (2 lines), duplicates (1 line), features in another case (1" in caplog.text
    assert f"`il-morph check {odd} {odd}` lists them" in caplog.text


# Predictions

def test_unseen_characters_are_counted_and_features_in_another_case_get_a_suggestion():
    vocabulary = Predictor(ending_model()).vocabulary
    words = [("wалk", "V;PST"), ("walk", "v;pst"), ("жa", "V;PST")]
    features, _, characters = Unknown(vocabulary, [Sample(*word, None) for word in words]).warnings()
    assert features.startswith("1 of 3 inputs have features") and features.endswith("did you mean V;PST for v;pst?")
    assert characters.startswith("2 of 3 inputs have characters that training did not show, which the model can")
    assert all(f"{character} (1)" in characters for character in "алж")
    assert Unknown(vocabulary, [Sample("walk", "V;PST", None)]).warnings() == (None, None, None)


# Blank lines

def test_models_that_know_different_letters_warn_once():
    vote = VotingPredictor([Predictor(random_model()), Predictor(random_model(samples=TAGGED[:1]))])
    [warning] = vote.warnings([[Sample("zing", "V;PST", None)]])
    assert warning.endswith("(according to one of the models; others differ)")


def test_blank_lines_are_skipped_with_a_count_and_lines_keep_their_numbers(tmp_path, caplog, capsys):
    caplog.set_level("INFO")
    lines = ODD.splitlines(keepends=True)
    path = tmp_path / "blank.tsv"
    path.write_text("\n" + "lemma\tform\ttag\n" + "".join(lines[:2]) + "\n\t\t\n" + "".join(lines[2:]) + "\n",
                    encoding="utf-8")
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "(13 lines; header row skipped; 3 blank lines skipped)" in said
    assert "contradictions: lines 3, 7: kitap" in said
    assert main(["split", "--split-by=line", str(path), str(tmp_path / "parts")]) == 0
    assert "3 blank lines skipped" in caplog.text
    parts = [(tmp_path / "parts" / f"{part}.tsv").read_text("utf-8").splitlines() for part in ("train", "dev", "test")]
    assert all(part[0] == "lemma\tform\ttag" for part in parts)
    assert sorted(line for part in parts for line in part[1:]) == sorted(ODD.splitlines())
    (tmp_path / "none.tsv").write_text("\t\n\t\n", encoding="utf-8")
    assert "blank lines only" in error_of(capsys, "check", str(tmp_path / "none.tsv"))


def test_a_blank_line_in_predictions_is_refused(tmp_path, capsys):
    (tmp_path / "gold").write_text("a\tb\n\nc\td\n", encoding="utf-8")
    (tmp_path / "predictions").write_text("a\tb\nc\td\n", encoding="utf-8")
    assert main(["evaluate", "--no-feat-format", str(tmp_path / "gold"), str(tmp_path / "predictions")]) == 0
    (tmp_path / "predictions").write_text("a\tb\n\nc\td\n", encoding="utf-8")
    assert "line 2" in error_of(capsys, "evaluate", "--no-feat-format", str(tmp_path / "gold"),
                                str(tmp_path / "predictions"))


# Words in the place of files, and small words

@pytest.mark.parametrize("lines, what", [
    ("TR01\twalk\tV;PST\nTR02\tsing\tV;PST\n", "the inputs have numbers (TR01)"),
    ("2024-05-01\twalk\tV;PST\n2024-05-02\tsing\tV;PST\n", "the inputs have numbers (2024-05-01)"),
    ("walk\tV;PST\t1\nsing\tV;PST\t2\n", "the outputs are numbers (1)"),
    ("Nummer\tVerb\tForm\n1\twalk\tV;PST\n2\tsing\tV;PST\n", "the inputs have numbers (1)"),
    ("\twalk\tV;PST\n2\tsing\tV;PST\n", "line 2: the inputs are numbers (2)"),
])
def test_identifiers_are_not_inflected_nor_replaced(lines, what):
    predictor = Predictor(ending_model())
    options = ReadOptions(expected=predictor.format, because="the model was trained on")
    with pytest.raises(InputError) as caught:
        refuse_other_data(parse_data(lines.encode(), "file", options), predictor)
    assert what in str(caught.value) and "--columns=-,input,features" in str(caught.value)
    with pytest.raises(InputError, match="numbers .* give the file a header row"):
        Answers({"words": predictor}).file({"name": "file"}, lines.encode())


def test_a_first_row_whose_features_alone_are_unknown_is_asked_about():
    predictor = Predictor(ending_model())
    options = ReadOptions(expected=predictor.format, because="the model was trained on")
    data = parse_data(b"Verb\tAngabe\nwalk\tV;PST\nsing\tV;PST\n", "file", options)
    with pytest.raises(InputError, match="file, line 1: Verb | Angabe: is this a header row?"):
        refuse_other_data(data, predictor)
    refuse_other_data(data, predictor, columns_named=True)
    refuse_other_data(parse_data(b"walk\tV;PST\nVerb\tAngabe\nsing\tV;PST\n", "file", options), predictor)


@pytest.mark.parametrize("sign", [".", ",", " ", "+"])
def test_features_with_another_separator_are_not_taken_for_another_column(sign):
    predictor = Predictor(ending_model())
    data = parse_data(f"walk\tV{sign}PST\nsing\tV{sign}PST\n".encode(), "file", ReadOptions(predictor.format))
    with pytest.raises(InputError, match=f'separated by ";": write that instead of "[{sign}]"'):
        refuse_other_data(data, predictor)


def test_predict_of_a_word_points_to_explain(capsys, tmp_path):
    assert error_of(capsys, "predict", "results", "kitap", "N;SG;ACC") == (
        "cannot read kitap: No such file or directory; if it is a word, ask `il-morph explain results kitap "
        "'N;SG;ACC'`\n")
    assert "explain" not in error_of(capsys, "predict", "results", "kitap.tsv")
    for seed in "12":
        (tmp_path / seed).mkdir()
        (tmp_path / seed / "f.model").touch()
    assert f"`il-morph explain {tmp_path / '1'} kitap`" in error_of(capsys, "predict", str(tmp_path), "kitap")


def test_no_p_is_0():
    assert [p_in_words(p) for p in (0.0, 1e-9, 0.0001, 0.25)] == ["< 0.0001", "< 0.0001", "0.0001", "0.2500"]
    text = compare([True] * 200, [False] * 200).as_text()
    assert "p (McNemar, exact)           < 0.0001" in text and "p (paired bootstrap)         < 0.0002" in text
    assert "1 line\n" in compare([True], [True]).as_text()


def test_treebanks_are_not_checked_for_what_running_text_repeats(tmp_path, capsys):
    word = "1\t{0}\t{0}\tPUNCT\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "text.conllu").write_text("".join(word.format(each) for each in "!!!..?"), encoding="utf-8")
    assert main(["check", str(tmp_path / "text.conllu")]) == 0
    assert "nothing odd" in capsys.readouterr().out, "! comes three times"
