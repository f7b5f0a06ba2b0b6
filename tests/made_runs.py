"""Finished runs as `il-morph train` leaves them, made without training: of models with random weights."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from il_morph.data.formats import SIGMORPHON2017, Sample
from il_morph.model.predictor import Predictor
from il_morph.model.search import Hypothesis
from il_morph.model.settings import TrainingSettings
from il_morph.runs.results_folder import ResultsFolder
from il_morph.training.loop import Epoch
from tests.random_models import random_model

EVIL = "<img src=x onerror=alert(1)>"
WORDS = [
    Sample("walk", "V;PST", "walked"), Sample("go on", "V;PRS;3", "goes on"), Sample("כָּתַב", "V;PST;3", "כָּתְבָה"),
    Sample("가다", "V;PST", "갔다"), Sample("ein Haus ", "N;PL", "Häuser "), Sample(EVIL, f"N;{EVIL}", f"{EVIL}s"),
    Sample("x" * 120, "N;PL", "x" * 130), Sample("a", "ADJ;CMPR", "aer"),
]


def write_data(folder: Path, name: str, samples: Sequence[Sample]) -> str:
    path = folder / name
    path.write_text("".join(SIGMORPHON2017.line(s, s.output or "") + "\n" for s in samples), encoding="utf-8")
    return str(path)


def made_run(folder: Path, name: str = "made", seed: int = 1, words: Sequence[Sample] = WORDS, covered: bool = False,
             **settings) -> Path:
    """Data and the results of a run in `folder`; the model says what its random weights make it say, but for
    every third line of the test data, which is right."""
    folder.mkdir(parents=True, exist_ok=True)
    train, dev = write_data(folder, "train", words), write_data(folder, "dev", words[:4])
    test = write_data(folder, "test", words)
    if covered:
        test = str(folder / "covered")
        Path(test).write_text("".join(f"{s.input}\t{s.tag}\n" for s in words), encoding="utf-8")
    model = random_model(seed, scale=0.5, samples=words, **settings)
    predictor, results = Predictor(model), ResultsFolder(folder / name)
    results.save_model(model)
    results.add_to_log(["phase", *Epoch.COLUMNS])
    for number in range(3):
        results.add_to_log(["il", *Epoch(number, 1.5, 1.0 / (number + 1), 10.0 * number, 20.0 * number).cells()])
    results.write_log()
    parts = {"dev": words[:4], "test": [Sample(s.input, s.tag, None) for s in words] if covered else words}
    for search, width in (("greedy", 1), ("beam4", 4)):
        for part, samples in parts.items():
            found = predictor.hypotheses(samples, width)
            for line in range(seed, len(words) * (part == "test" and not covered), 3):
                found[line] = [Hypothesis(words[line].output or "", (), 0.0)]
            results.write_predictions(f"{search}.{part}", SIGMORPHON2017, samples, found)
    results.finish({
        "il_morph": "0", "seed": seed, "scores": {}, "training": {"epochs": 3, "best_epoch": 2, "seconds": 4.5},
        "command": ["il-morph", "train", "--sigm2017format", f"--test-path={test}", train, dev, str(folder / name)],
        "settings": {**model.vocabulary.settings.as_dict(), **TrainingSettings().as_dict(), "reload_path": None}})
    return folder / name
