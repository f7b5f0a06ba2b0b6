"""UDPipe 1 from Python: train a tagger and lemmatizer, or write lemmas. Needs `pip install ufal.udpipe`.

Usage:
  treebank_peers.py train TRAIN MODEL
  treebank_peers.py predict MODEL INPUT OUTPUT
"""
import sys
from pathlib import Path

from ufal.udpipe import InputFormat, Model, OutputFormat, ProcessingError, Sentence, Sentences, Trainer


def sentences_of(path: str):
    """Its reader takes the whole text."""
    reader, error = InputFormat.newConlluInputFormat(), ProcessingError()
    reader.setText(Path(path).read_text(encoding="utf-8"))
    while True:
        sentence = Sentence()
        if not reader.nextSentence(sentence, error):
            break
        yield sentence
    if error.occurred():
        sys.exit(error.message)


def train(train_path: str, model_path: str) -> None:
    sentences, error = Sentences(), ProcessingError()
    for sentence in sentences_of(train_path):
        sentences.append(sentence)
    made = Trainer.train("morphodita_parsito", sentences, Sentences(), Trainer.NONE, Trainer.DEFAULT, Trainer.NONE,
                         error)
    if error.occurred():
        sys.exit(error.message)
    Path(model_path).write_bytes(made if isinstance(made, bytes) else made.encode("utf-8", "surrogateescape"))


def predict(model_path: str, input_path: str, output_path: str) -> None:
    model, writer, error = Model.load(model_path), OutputFormat.newConlluOutputFormat(), ProcessingError()
    with open(output_path, "w", encoding="utf-8") as stream:
        for sentence in sentences_of(input_path):
            if not model.tag(sentence, Model.DEFAULT, error):
                sys.exit(error.message)
            stream.write(writer.writeSentence(sentence))


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
