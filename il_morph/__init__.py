"""Imitation learning for neural morphological string transduction.

    import il_morph

    m = il_morph.train("train.tsv", "dev.tsv", "results", model="ca-r", epochs=20)
    m = il_morph.load("results")                      # or il_morph.load("results/1", "results/2", combine="average")
    m.predict([("walk", "V;PST"), ("mouse", "N;PL")])           # ["walked", "mice"]
    m.nbest([("walk", "V;PST")], n=3)[0][0].probability         # 0.98
    m.paradigm("walk", pos="V")                       # the forms for all features of the training data
    il_morph.evaluate("test.tsv", outputs).accuracy   # 97.5
    il_morph.explain(m, "walk", "V;PST")              # step by step
    il_morph.suggest(m, pairs, n=50)                  # which of them to ask next
    il_morph.Transducer(epochs=20).fit(X, y)          # in the style of scikit-learn

Bad input raises an `il_morph.InputError` that says what is wrong, where, and what to do.
"""
from __future__ import annotations

import os

TYPE_CHECKING = False  # importing this module imports next to nothing, so that Ctrl-C at start-up leaves no traceback
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn, Optional, Union

    from il_morph.errors import InputError
    from il_morph.evaluation.scores import Scores
    from il_morph.files import PathLike
    from il_morph.model.predictor import AnyPredictor, Item
    from il_morph.model.suggestions import Suggestion
    from il_morph.report.trace import Trace
    from il_morph.runs.estimator import Transducer

    Numbers = Optional[Union[str, int, Iterable[int]]]  # "1-3" and "4,10" or [4, 10]

__version__ = "3.0.0"
__all__ = ["InputError", "Transducer", "evaluate", "explain", "load", "predict_conllu", "suggest", "train"]


def __getattr__(name: str) -> Any:
    if name == "InputError":
        from il_morph.errors import InputError

        return InputError
    if name == "Transducer":
        from il_morph.runs.estimator import Transducer

        return Transducer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(*paths: Union[PathLike, Sequence[PathLike]], combine: str = "vote") -> AnyPredictor:
    """Load a trained model: `il_morph.load("results").predict([("walk", "V;PST")])`.

    A path is a model file, the results folder of a training, or a folder with a results folder for each seed.
    Several models answer as one: `combine="vote"` takes the most frequent output (a tie goes to the first model),
    `"average"` searches with the mean of their probabilities at each step.
    """
    from il_morph.model.combination import load_predictor
    from il_morph.values import items_of, path_of

    listed: list[PathLike] = []
    for each in paths:
        listed += [each] if isinstance(each, (str, os.PathLike)) else items_of("load", each)
    return load_predictor([path_of("load", path) for path in listed], combine)


def train(train: PathLike, dev: Optional[PathLike], results: PathLike, model: Optional[str] = None, *,
          seeds: Numbers = None, folds: Optional[int] = None, jobs: Optional[int] = None,
          test_path: Optional[PathLike] = None, reload_path: Optional[PathLike] = None, force: Optional[bool] = None,
          verbose: Optional[int] = None, engine: Optional[str] = None, dynet_seed: Optional[int] = None,
          dynet_mem: Optional[int] = None, dynet_autobatch: Optional[int] = None,
          split_by: Optional[str] = None, split_seed: Optional[int] = None, sigm2017format: Optional[bool] = None,
          no_feat_format: Optional[bool] = None, columns: Optional[Union[str, Sequence[str]]] = None,
          feature_separator: Optional[str] = None, task: Optional[str] = None, conllu_features: Optional[str] = None,
          keep_lexicon: Optional[bool] = None,
          architecture: Optional[str] = None, transducer: Optional[str] = None, input: Optional[int] = None,
          feat_input: Optional[int] = None, action_input: Optional[int] = None, pos_emb: Optional[bool] = None,
          avm_feat_format: Optional[bool] = None, enc_hidden: Optional[int] = None, dec_hidden: Optional[int] = None,
          enc_layers: Optional[int] = None, dec_layers: Optional[int] = None, vanilla_lstm: Optional[bool] = None,
          mlp: Optional[int] = None, nonlin: Optional[str] = None, lucky_w: Optional[float] = None,
          tag_wraps: Optional[str] = None, param_tying: Optional[bool] = None, unicode: Optional[str] = None,
          input_separator: Optional[str] = None, output_separator: Optional[str] = None, boundary: Optional[str] = None,
          mode: Optional[str] = None, epochs: Optional[int] = None, patience: Optional[int] = None,
          pick_loss: Optional[bool] = None, pick_ties: Optional[str] = None, mle_loss: Optional[str] = None,
          sample_order: Optional[str] = None, trials: Optional[int] = None, optimization: Optional[str] = None,
          learning_rate: Optional[float] = None, lr_schedule: Optional[str] = None, lr_warmup: Optional[float] = None,
          lr_decay: Optional[float] = None, lr_patience: Optional[int] = None,
          batch_size: Optional[int] = None, decbatch_size: Optional[int] = None, dropout: Optional[float] = None,
          l2: Optional[float] = None, augment: Optional[str] = None,
          average_weights: Optional[float] = None,
          beam_width: Optional[int] = None, beam_widths: Numbers = None,
          il_rules: Optional[str] = None, il_loss: Optional[str] = None, il_decay: Optional[str] = None,
          il_k: Optional[float] = None, il_tforcing_epochs: Optional[int] = None, il_beta: Optional[float] = None,
          il_global_rollout: Optional[bool] = None, il_optimal_oracle: Optional[bool] = None,
          il_bias_inserts: Optional[bool] = None, il_rollin: Optional[str] = None,
          il_rollout_loss: Optional[str] = None, il_prefixes: Optional[str] = None, il_costs: Optional[str] = None,
          aligner: Optional[str] = None, align_smart: Optional[bool] = None,
          align_cls: Optional[bool] = None, align_dumb: Optional[bool] = None, iterations: Optional[int] = None,
          try_reverse: Optional[bool] = None, pretrain_epochs: Optional[int] = None,
          pretrain_until: Optional[float] = None, pretrain_dropout: Optional[float] = None,
          sample_size: Optional[int] = None, alpha: Optional[float] = None, beta: Optional[float] = None,
          mrt_action_cost: Optional[float] = None, no_baseline: Optional[bool] = None,
          scale_negative: Optional[float] = None,
          **others: NoReturn) -> AnyPredictor:
    """Train a model as `il-morph train` does, and load it. Without `dev` (None) the training file is split.

    Arguments have the names of the flags, with `_` for `-`; `il-morph train --help` explains them. None leaves a
    setting to the preset in `model` (CA-R by default) or to its own default. `pos_emb=False` is --no-pos-emb,
    `aligner="cls"` is --align-cls. `seeds="1-5"`, or a list or range of seeds, trains several models that vote, `jobs`
    at a time; `folds=5`, with `dev=None`, trains one model for each part of the file (cross-validation).
    Progress bars and log lines appear as they do for the command; `verbose=False` turns them off.
    """
    asked = {**locals(), **others}
    from il_morph.runs.python import messages_in_python, shown, train_as_asked

    for name in ("train", "dev", "results", "others"):
        del asked[name]
    with messages_in_python(), shown(verbose):
        train_as_asked(train, dev, results, asked)
        return load(results if mode != "eval" or reload_path is None else reload_path)


def explain(model: AnyPredictor, input: str, features: str = "", gold: Optional[str] = None,
            beam_width: int = 4) -> Trace:
    """What a model does with a word, step by step; `gold` is the right output, if it is known."""
    from il_morph.errors import InputError
    from il_morph.model.predictor import Predictor, refuse_width
    from il_morph.report.trace import trace_best
    from il_morph.report.words import sample_for
    from il_morph.values import text

    if not isinstance(model, Predictor):
        raise InputError(f"explain takes one model that il_morph.load or il_morph.train has returned, not {model!r}")
    refuse_width("beam_width", beam_width, 0)
    sample = sample_for(model, text("input", input), text("features", features),
                        None if gold is None else text("gold", gold))
    return trace_best(model, sample, sample.output, beam_width)


def suggest(model: AnyPredictor, pool: Iterable[Item], n: int = 50, beam_width: int = 4) -> list[Suggestion]:
    """The n (input, features) pairs of `pool` to ask about next, as `il-morph suggest` chooses them.

    The model is least sure of these pairs; they are spread over features and inputs. Each comes with the model's
    `output` and its `probability`.
    """
    from il_morph.errors import InputError
    from il_morph.model.predictor import AnyPredictor, refuse_width
    from il_morph.model.suggestions import suggestions
    from il_morph.values import integer

    if not isinstance(model, AnyPredictor):
        raise InputError(f"suggest takes a model that il_morph.load or il_morph.train has returned, not {model!r}")
    refuse_width("beam_width", beam_width, 1)
    return suggestions(model, model.samples_of(pool), integer("n", n, 1), beam_width)


def predict_conllu(model: AnyPredictor, content: str, lexicon: Optional[str] = None, beam_width: int = 4) -> str:
    """Fill CoNLL-U, given as a string, with the lemmas (or forms) of a model that was trained on a treebank.

    The result is what `il-morph predict` writes. `lexicon` is `"off"`, `"unanimous"` or `"frequent"`.
    """
    from il_morph.errors import InputError
    from il_morph.model.answers import chosen_rule
    from il_morph.model.lexicon import LEXICON_RULES
    from il_morph.model.predictor import refuse_width
    from il_morph.model.treebank_text import filled, read_words
    from il_morph.runs.python import messages_in_python
    from il_morph.values import text

    if lexicon is not None and lexicon not in LEXICON_RULES:
        raise InputError(f"lexicon takes one of {', '.join(LEXICON_RULES)}, not {lexicon!r}")
    refuse_width("beam_width", beam_width, 0)
    with messages_in_python({"lexicon"}):
        data = read_words(text("content", content).encode("utf-8", "surrogatepass"), "the text", model)
        if data is None:
            raise InputError("the text is not CoNLL-U: give words with ten columns, and a model of a treebank")
        return filled(model, data, chosen_rule(model, lexicon), beam_width)[0]


def evaluate(gold: Union[PathLike, Iterable[Any]], predictions: Union[PathLike, Sequence[str]],
             columns: Optional[str] = None, output_separator: str = "", boundary: str = "",
             unicode: str = "as-is") -> Scores:
    """Score predictions against gold data, line by line: accuracy in percent, mean Levenshtein distance and so on.

    Both are files or lists of outputs; gold data may also be a table, or a list of triples (input, features, output).
    `columns`, as in `"input,features,output"`, names the columns of a file if they are not recognised. With
    `output_separator=" "` distances count the symbols between separators, and the scores include word and symbol error
    rates. With `boundary=" @@"` they include precision, recall and F1 of the segments between boundaries.
    `unicode` ("nfc", "nfd", or "nfd-nfc" for inputs and outputs) is the form to compare in.
    """
    from il_morph.data.formats import ReadOptions, read_data
    from il_morph.data.read_options import named_columns, symbol_separators
    from il_morph.data.spelling import FORMS
    from il_morph.errors import InputError
    from il_morph.evaluation.entries import gold_entries, listed_gold, read_predictions, warn_of_spelling, with_outputs
    from il_morph.evaluation.scores import evaluate as score
    from il_morph.runs.python import messages_in_python
    from il_morph.values import choice, path_of, text

    with messages_in_python({"columns", "output_separator", "boundary", "unicode"}):
        separators = symbol_separators(output=text("output_separator", output_separator),
                                       boundary=text("boundary", boundary))
        options = ReadOptions(columns=named_columns(columns), separators=separators,
                              unicode=choice("unicode", unicode, FORMS))
        if isinstance(gold, (str, os.PathLike)) or not hasattr(gold, "__iter__"):
            data = read_data(path_of("gold", gold), options, need_output=True)
            golds, fmt = gold_entries(data), data.format
        else:
            golds, fmt = listed_gold(gold, separators, unicode)
        if not isinstance(predictions, (str, os.PathLike)):
            found = with_outputs(golds, predictions, unicode)
        elif any(entry.input for entry in golds):
            found = read_predictions(path_of("predictions", predictions), fmt, unicode, separators)
        else:
            raise InputError("the gold data is a list of outputs, and nothing says that the lines of the file "
                             f"{predictions} are about the same inputs: give lists on both sides, or gold data with "
                             "inputs")
        warn_of_spelling(golds, found)
        return score(golds, found, fmt, separators)
