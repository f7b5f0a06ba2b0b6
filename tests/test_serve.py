"""`il-morph serve`: the answers behind the page, and what the server refuses."""
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from il_morph.data.formats import SIGMORPHON2017, Sample
from il_morph.errors import InputError
from il_morph.model.lexicon import Lexicon
from il_morph.model.modelfile import load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.report import server as server_module
from il_morph.report.answers import Answers, model_names
from il_morph.report.server import HEADERS, PAGE, PageServer
from il_morph.report.trace import trace_best
from il_morph.report.words import sample_for
from tests.cli import ROOT, error_of
from tests.made_runs import EVIL, WORDS
from tests.random_models import random_model

MODEL = Predictor(random_model(2, scale=0.5, samples=WORDS))
PLAIN = Predictor(random_model(2, format="no-features", pos_emb=False))
JSON = {"Content-Type": "application/json"}


@contextmanager
def serving(answers: Answers, host: str = "127.0.0.1"):
    with PageServer(host, 0, answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server():
    with serving(Answers({"words": MODEL, "plain": PLAIN})) as running:
        yield running


def request(server, method, path, body=None, headers=None):
    """Status, headers and content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def ask(server, path, question):
    status, _, content = request(server, "POST", path, json.dumps(question).encode("utf-8"), JSON)
    return status, json.loads(content)


# Answers

def test_the_page_is_told_what_the_models_know(server):
    _, _, content = request(server, "GET", "/api/models")
    words, plain = json.loads(content)["models"]
    assert (words["name"], words["separator"]) == ("words", ";")
    assert words["pos"] == ["V", "N", "ADJ"] and EVIL in words["features"]
    assert dict(words["bundles"]) == MODEL.vocabulary.bundles and words["bundles"][0][1] == 2
    assert (plain["separator"], plain["features"], plain["bundles"]) == (None, [], [])


@pytest.mark.parametrize("word, tag", [(sample.input, sample.tag) for sample in WORDS])
def test_a_word_gets_its_best_outputs_with_their_steps(server, word, tag):
    status, answer = ask(server, "/api/predict", {"model": "words", "input": word, "features": tag, "n": 3})
    found = MODEL.hypotheses([sample_for(MODEL, word, tag)], 4)[0][:3]
    assert status == 200
    assert [each["output"] for each in answer["answers"]] == [each.output for each in found]
    first = json.loads(json.dumps(trace_best(MODEL, sample_for(MODEL, word, tag), None, 4).as_dict()))
    got = answer["answers"][0]
    assert {**got, "probability": 0, "steps": 0} == {**first, "probability": 0, "steps": 0}
    assert [step[:2] for step in got["steps"]] == [step[:2] for step in first["steps"]]
    assert [step[2] for step in got["steps"]] == pytest.approx([step[2] for step in first["steps"]], rel=1e-2)


def test_the_right_form_is_judged_and_unknown_things_are_remarked_on(server):
    _, answer = ask(server, "/api/predict", {"input": "wölk", "features": "V;FUT", "gold": "walked"})
    assert all(each["gold"] == "walked" and each["right"] is False for each in answer["answers"])
    assert answer["remarks"] == ["Training did not show ö: the model can only copy or delete such characters.",
                                 "Training did not show the feature FUT."]


def test_a_paradigm_has_a_form_for_each_bundle(server):
    _, answer = ask(server, "/api/paradigm", {"input": "walk"})
    assert [form["features"] for form in answer["forms"]] == sorted(MODEL.vocabulary.bundles)
    _, verbs = ask(server, "/api/paradigm", {"input": "walk", "pos": "V"})
    assert {form["features"].split(";")[0] for form in verbs["forms"]} == {"V"}
    assert [form["output"] for form in verbs["forms"]] == [form.output for form in MODEL.paradigm("walk", "V")]
    status, refusal = ask(server, "/api/paradigm", {"input": "walk", "model": "plain"})
    assert (status, refusal) == (400, {"error": "the model has no features, so there is no paradigm"})


def test_a_file_gets_its_predictions(server):
    text = "".join(SIGMORPHON2017.line(sample, sample.output) + "\n" for sample in WORDS)
    headers = {"Content-Type": "application/octet-stream"}
    status, _, content = request(server, "POST", "/api/file?model=words&name=my.tsv", text.encode("utf-8"), headers)
    answer = json.loads(content)
    outputs = [found[0].output for found in MODEL.hypotheses(WORDS)]
    assert status == 200 and answer["lines"] == len(WORDS)
    assert answer["predictions"] == "".join(SIGMORPHON2017.line(s, o) + "\n" for s, o in zip(WORDS, outputs))
    right = sum(sample.output == output for sample, output in zip(WORDS, outputs))
    assert answer["accuracy"] == 100 * right / len(WORDS)
    covered = "".join(f"{sample.input}\t{sample.tag}\n" for sample in WORDS).encode("utf-8")
    assert json.loads(request(server, "POST", "/api/file", covered, headers)[2])["accuracy"] is None
    status, _, content = request(server, "POST", "/api/file?name=my.tsv", b"\xff\n", headers)
    assert status == 400 and "my.tsv" in json.loads(content)["error"]


# Running text

def treebank_model(source="upos+feats", task="lemmatize"):
    """A model of a treebank that knows the words of a sentence."""
    samples = [Sample("Evler", "NOUN|Number=Plur", "ev"), Sample("evde", "NOUN|Case=Loc", "ev"),
               Sample("evde", "ADV", "evde"), Sample("gitti", "VERB", "git"), Sample(".", "PUNCT", ".")]
    tags = {"upos+feats": str, "none": lambda tag: "", "xpos": str}[source]
    samples = [Sample(each.input, tags(each.tag), each.output) for each in samples]
    made = random_model(2, scale=0.5, samples=samples, format=f"conllu:{task}:{source}", pos_emb=source != "none")
    made.lexicon = Lexicon().add(samples, [1, 3, 2, 1, 1])
    return Predictor(made)


TREEBANK = treebank_model()
CONLLU = ("# sent_id = 1\r\n1-2\tEvlerde\t_\t_\t_\t_\t_\t_\t_\t_\r\n1\tevde\tev\tNOUN\t_\tCase=Loc\t_\t_\t_\t_\r\n"
          "2\tyok\t_\tADJ\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n")


def test_a_sentence_gets_lemmas_with_the_features_of_training():
    answers = Answers({"tr": TREEBANK, "words": MODEL})
    assert [each["text"] for each in answers.models()["models"]] == [True, False]
    found = answers.sentence({"text": "(evde yok ..."})["words"]
    assert [(each["form"], each["features"], each["source"]) for each in found] == [
        ("(", "", "unknown"), ("evde", "NOUN|Case=Loc", "training"), ("yok", "", "unknown"), ("...", "", "unknown")]
    assert found[1]["lemmas"] == [["ev", 1.0]] and found[1]["known"] and len(found[2]["lemmas"]) == 3
    given = answers.sentence({"text": "evde gitti.", "features": ["ADV", None, None]})
    assert [each["lemmas"][0][0] for each in given["words"]] == ["evde", "git", "."]
    assert given["conllu"] == ("# text = evde gitti.\n1\tevde\tevde\tADV\t_\t_\t_\t_\t_\t_\n"
                               "2\tgitti\tgit\tVERB\t_\t_\t_\t_\t_\t_\n3\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n\n")


def test_the_first_word_of_a_sentence_is_tried_in_lower_case():
    words = Answers({"tr": TREEBANK}).sentence({"text": "Gitti Gitti"})["words"]
    assert [(each["features"], each["known"]) for each in words] == [("VERB", True), ("", False)]


def test_a_model_without_features_asks_for_none():
    words = Answers({"tr": treebank_model("none")}).sentence({"text": "gitti yok"})["words"]
    assert [(each["features"], each["source"]) for each in words] == [("", "given")] * 2
    assert "\tNOUN|Case=Loc\t" in Answers({"tr": treebank_model("xpos")}).sentence({"text": "evde"})["conllu"]


def test_a_treebank_comes_back_with_lemmas_from_the_page(server):
    answers = Answers({"tr": TREEBANK})
    for found in (answers.file({"name": "a.conllu"}, CONLLU.encode()), answers.sentence({"text": CONLLU})):
        lemma = found["preview"][1][2] or "_"
        assert found["predictions"] == CONLLU.replace("yok\t_", f"yok\t{lemma}")
        assert (found["conllu"], found["lines"], found["accuracy"]) == (True, 2, 100.0)
    status, answer = ask(server, "/api/sentence", {"model": "words", "text": "evde"})
    assert status == 400 and "does not lemmatize a treebank" in answer["error"]


@pytest.mark.parametrize("question, message", [
    ({"text": " "}, "there are no words"), ({"text": "evde", "features": []}, "features for 0 words"),
    ({"text": "evde", "features": "ADV"}, "features must be a list"), ({"text": 1}, "text must be a string"),
    ({"text": "evde", "features": ["a" * 2000]}, "the features has 2,000 characters"),
    ({"text": CONLLU.replace("\tCase=Loc", "")}, "the text, line 3 (sentence 1): 9 columns"),
    ({"text": CONLLU.split("1\tevde")[0]}, "has no words")])
def test_bad_text_is_refused(question, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Answers({"tr": TREEBANK}).sentence(question)


def test_a_file_with_too_many_lines_is_refused():
    with pytest.raises(InputError, match="20,001 lines, but the page takes at most 20,000"):
        Answers({"words": MODEL}).file({}, b"walk\tV;PST\n" * 20_001)


def test_eight_clients_at_once_get_right_answers(server):
    expected = {(s.input, s.tag): [h.output for h in MODEL.hypotheses([s], 4)[0]] for s in WORDS}

    def client(number):
        sample = WORDS[number % len(WORDS)]
        _, answer = ask(server, "/api/predict", {"input": sample.input, "features": sample.tag})
        return expected[sample.input, sample.tag] == [each["output"] for each in answer["answers"]]

    with ThreadPoolExecutor(8) as clients:
        assert all(clients.map(client, range(24)))


@pytest.mark.parametrize("question, message", [
    ({"input": 7}, "input must be a string"), ({"input": "a", "n": 0}, "n must be a whole number"),
    ({"input": "a", "n": "4"}, "n must be a whole number"), ({"input": "a\tb"}, "a tab, a line end"),
    ({"input": "a", "model": "other"}, "there is no model 'other'; choose one of words, plain"),
    ({"input": "⟪"}, "reserved"), ({"input": "w" * 1001}, "1,001 characters"), ({"input": "\ud800"}, "lone surrogate"),
    ({"input": "a", "model": "plain", "features": "V"}, "reads no features"),
])
def test_a_question_that_makes_no_sense_is_an_error_that_says_so(server, question, message):
    status, answer = ask(server, "/api/predict", question)
    assert status == 400 and message in answer["error"]


# What is refused

@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 50_000, b'"text"'])
def test_a_question_that_is_no_object_is_refused(server, body):
    status, _, content = request(server, "POST", "/api/predict", body, JSON)
    assert (status, json.loads(content)) == (400, {"error": "the request must be a JSON object"})


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "10.0.0.1", "[::",
                                  "localhost@evil"])
def test_a_host_that_is_not_its_own_is_refused(server, host):
    for method, path in (("GET", "/"), ("GET", "/api/models"), ("POST", "/api/predict")):
        status, _, content = request(server, method, path, b"{}" if method == "POST" else None, {**JSON, "Host": host})
        assert status == 403 and "this server is not" in json.loads(content)["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]:80", "127.0.0.1:1"])
def test_its_own_names_are_answered_whatever_the_port(server, host):
    assert request(server, "GET", "/", headers={"Host": host})[0] == 200


def test_another_address_is_called_by_address_or_by_the_name_of_the_machine():
    with serving(Answers({"words": MODEL}), "0.0.0.0") as server:
        for host, status in (("192.168.1.7:80", 200), (socket.gethostname(), 200), ("evil.example", 403)):
            assert request(server, "GET", "/", headers={"Host": host})[0] == status


def test_another_page_may_not_ask(server):
    own = f"127.0.0.1:{server.server_port}"
    body = json.dumps({"input": "walk", "features": "V;PST"}).encode()
    for origin, expected in ((f"http://{own}", 200), ("http://evil.example", 403), ("null", 403)):
        assert request(server, "POST", "/api/predict", body, {**JSON, "Origin": origin})[0] == expected
    assert request(server, "POST", "/api/predict", body, {"Content-Type": "text/plain"})[0] == 415


@pytest.mark.parametrize("path", [
    "/setup.py", "/../setup.py", "/..%2f..%2fsetup.py", "//etc/passwd", "//[", "/pages/serve.html", "/serve.html",
    "/report.html", "/server.py", "/style.css/", "/api", "/api/predict"])
def test_nothing_but_the_page_is_served(server, path):
    status, _, content = request(server, "GET", path)
    assert (status, json.loads(content)) == (404, {"error": "not found"})


def test_every_answer_carries_the_policy(server):
    for method, path in (*(("GET", path) for path in PAGE), ("GET", "/api/models"), ("GET", "/nowhere"), ("POST", "/")):
        _, headers, _ = request(server, method, path, b"" if method == "POST" else None)
        assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_a_body_that_is_too_long_or_of_unknown_length_is_not_read(server):
    def status_of(length):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
        connection.putrequest("POST", "/api/predict")
        for name, value in {**JSON, **({} if length is None else {"Content-Length": length})}.items():
            connection.putheader(name, value)
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    assert [status_of(length) for length in (None, "-1", "x", "1_0", "٣", "70000", "9" * 30) if length != "٣"] == [
        411, 411, 411, 411, 413, 413]


def test_a_client_that_falls_silent_or_dawdles_is_let_go(monkeypatch):
    monkeypatch.setattr(server_module.PageHandler, "timeout", 0.3)
    with serving(Answers({"words": MODEL})) as server:
        silent = socket.create_connection(("127.0.0.1", server.server_port))
        silent.settimeout(20)
        silent.sendall(b"POST /api/predict HTTP/1.0\r\nHost: localhost\r\n")
        assert silent.recv(100) == b"", "the connection is closed without an answer"
        silent.close()
    monkeypatch.setattr(server_module, "LONGEST", 0.5)
    monkeypatch.setattr(server_module.PageHandler, "timeout", 20)
    with serving(Answers({"words": MODEL})) as server:
        slow = socket.create_connection(("127.0.0.1", server.server_port))
        slow.settimeout(20)
        slow.sendall(b"GET / HTTP/1.0\r\n")
        assert slow.recv(100) == b""
        slow.close()
        assert request(server, "GET", "/")[0] == 200


def test_of_too_many_connections_the_one_that_is_idle_longest_is_broken_off(monkeypatch):
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 2)
    with serving(Answers({"words": MODEL})) as server:
        idle = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(3)]
        idle[0].settimeout(20)
        assert idle[0].recv(100) == b""
        for _ in range(3):
            assert request(server, "GET", "/")[0] == 200
        for each in idle:
            each.close()


def test_a_new_client_is_answered_while_many_connections_are_idle():
    with serving(Answers({"words": MODEL})) as server:
        idle = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(70)]
        for _ in range(3):
            assert request(server, "GET", "/")[0] == 200
            assert ask(server, "/api/predict", {"input": "walk"})[0] == 200
        for each in idle:
            each.close()


def test_connections_that_are_being_answered_are_not_broken_off(monkeypatch):
    class Slow(Answers):
        def predict(self, question):
            asked.set()
            assert answer.wait(20)
            return super().predict(question)

    asked, answer = threading.Event(), threading.Event()
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(server_module, "GIVEN_BACK", 0.1)
    with serving(Slow({"words": MODEL})) as server:
        found = []
        busy = threading.Thread(target=lambda: found.append(ask(server, "/api/predict", {"input": "walk"})[0]))
        busy.start()
        assert asked.wait(20)
        with socket.create_connection(("127.0.0.1", server.server_port)) as turned_away:
            turned_away.settimeout(20)
            assert turned_away.recv(100) == b""
        answer.set()
        busy.join(20)
        assert found == [200]


def test_an_answer_that_fails_says_so_without_a_traceback(monkeypatch):
    class Broken(Answers):
        def predict(self, question):
            raise RuntimeError("a secret path")

    with serving(Broken({"words": MODEL})) as server:
        status, answer = ask(server, "/api/predict", {"input": "walk"})
        assert status == 500 and "secret" not in answer["error"]
        assert request(server, "GET", "/")[0] == 200


# The command

@contextmanager
def command(*arguments):
    """The command, and what it says on its terminal."""
    process = subprocess.Popen([sys.executable, "-m", "il_morph", "serve", "--port=0", *arguments], cwd=ROOT,
                               stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_the_command_serves_until_it_is_interrupted(tmp_path):
    save_model(tmp_path / "f.model", random_model(2))
    with command(str(tmp_path)) as process:
        line = process.stderr.readline()
        port = int(re.fullmatch(r"il-morph: serving http://127\.0\.0\.1:(\d+)/ \(Ctrl-C stops it\)\n", line)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/")
        assert b"il-morph" in connection.getresponse().read()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert process.stderr.read() == ""


def test_the_command_warns_when_others_can_reach_the_page(tmp_path):
    save_model(tmp_path / "f.model", random_model(2))
    with command("--host=0.0.0.0", str(tmp_path)) as process:
        assert "everybody who can reach this address can use the page" in process.stderr.readline()
        assert "serving http://0.0.0.0:" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_the_command_serves_on_ipv6(tmp_path):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    save_model(tmp_path / "f.model", random_model(2))
    with command("--host=::1", str(tmp_path)) as process:
        line = process.stderr.readline()
        port = int(re.fullmatch(r"il-morph: serving http://\[::1\]:(\d+)/ \(Ctrl-C stops it\)\n", line)[1])
        for host, status in (("[::1]", 200), ("localhost", 200), ("[2001:db8::1]", 403), ("evil.example", 403)):
            connection = http.client.HTTPConnection("::1", port)
            connection.request("GET", "/api/models", headers={"Host": f"{host}:{port}"})
            assert connection.getresponse().status == status, host
            connection.close()


def test_errors_of_the_command(capsys, tmp_path, server):
    save_model(tmp_path / "f.model", random_model(2))
    assert "cannot read" in error_of(capsys, "serve", str(tmp_path / "nothing"))
    assert "--port takes a whole number from 0 up to 65535" in error_of(capsys, "serve", "--port=99999", str(tmp_path))
    taken = error_of(capsys, "serve", f"--port={server.server_port}", str(tmp_path))
    assert f"cannot serve on 127.0.0.1, port {server.server_port}" in taken and "choose another --port" in taken
    nowhere = error_of(capsys, "serve", "--port=0", "--host=nowhere.invalid", str(tmp_path))
    assert "cannot serve on nowhere.invalid" in nowhere
    assert "is given twice" in error_of(capsys, "serve", str(tmp_path), str(tmp_path / "f.model"))


def test_models_are_called_like_their_folders(tmp_path):
    paths = [f"{tmp_path}/a/f.model", f"{tmp_path}/b", f"{tmp_path}/c/other.model"]
    assert model_names(paths) == ["a", "b", "other.model"]
    assert model_names([f"{tmp_path}/a/x", f"{tmp_path}/b/x/f.model"]) == ["a/x", "b/x"]


def test_a_model_file_without_bundles_has_no_paradigm_and_says_so(tmp_path):
    model = random_model(2)
    model.vocabulary.bundles.clear()
    save_model(tmp_path / "f.model", model)
    with pytest.raises(InputError, match="does not keep the feature bundles"):
        Answers({"old": Predictor(load_model(tmp_path))}).paradigm({"input": "walk"})


def test_an_installed_package_has_the_files_of_its_pages(tmp_path):
    pytest.importorskip("setuptools")
    done = subprocess.run([sys.executable, "setup.py", "-q", "egg_info", "--egg-base", tmp_path, "build_py",
                           "--build-lib", tmp_path / "built"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.name for path in (ROOT / "il_morph" / "report" / "pages").iterdir()}
    assert {path.name for path in (tmp_path / "built" / "il_morph" / "report" / "pages").iterdir()} == pages


@pytest.mark.parametrize("sent, status", [(b"BREW / HTTP/1.1\r\n\r\n", 501), (b"GET / HTTP/x\r\n\r\n", 400),
                                          (b"a b c d\r\n\r\n", 400), (b"GET / HTTP/9.0\r\n\r\n", 505)])
def test_requests_that_are_no_requests_are_refused_with_all_headers(server, sent, status):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(sent)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == status and "error" in json.loads(answer.read())
        assert all(answer.getheader(name) == value for name, value in HEADERS.items())
