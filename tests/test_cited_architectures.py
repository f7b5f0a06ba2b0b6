"""The architectures of the cited systems: NumPy in bulk against DyNet sample by sample, and what each promises."""
import numpy as np
import pytest

from experiments.benchmark.simple_search import beam, greedy
from il_morph.data.formats import Sample
from il_morph.model.architectures import architecture_of, inference_of
from il_morph.model.modelfile import Model, load_model, save_model
from il_morph.model.predictor import Predictor
from il_morph.model.registry import ARCHITECTURES, CITED, TRANSDUCER, kind_named
from il_morph.model.search import decode, describe, execute
from il_morph.model.settings import PRESETS, ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.report.terminal import trace_text
from il_morph.report.trace import trace_best
from il_morph.training.dev_loss import GoldTeacher, step_losses
from il_morph.transitions.actions import BEGIN, COPY, DELETE, END, HEAD, STEP, UNK
from il_morph.transitions.systems import SYSTEMS
from tests.random_models import SAMPLES, SMALL, instances_of, random_actions, random_model
from tests.steps import OneByOne, step_log_probabilities
from tests.test_inference import bulk_log_probabilities, edge_cases

TOLERANCE = 1e-5
SOFT, HACM, HAEM_2017, NWFST, MED, LEM = CITED
SMALL_SOFT = {"architecture": SOFT, "feat_input": 6}
DYNET_VARIANTS = {
    "soft": {**SMALL_SOFT, "format": "sigmorphon2016"},
    "soft, two layers": {**SMALL_SOFT, "format": "sigmorphon2016", "enc_layers": 2, "dec_layers": 2},
    "soft, vanilla": {**SMALL_SOFT, "format": "sigmorphon2017", "vanilla_lstm": True},
    "soft, no features": {**SMALL_SOFT, "format": "no-features"},
    "hacm": {"architecture": HACM},
    "hacm, two layers": {"architecture": HACM, "enc_layers": 2, "dec_layers": 2},
    "hacm, bag of features": {"architecture": HACM, "feat_input": 0, "lucky_w": 2.0},
    "hacm, no features": {"architecture": HACM, "format": "no-features", "pos_emb": False},
    "haem": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "action_input": 8},
    "haem, two layers": {"architecture": HAEM_2017, "mlp": 4, "enc_layers": 2, "dec_layers": 2, "nonlin": "tanh"},
    "haem, vanilla": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "vanilla_lstm": True},
    "haem, no features": {"architecture": HAEM_2017, "mlp": 4, "lucky_w": 2.0, "format": "no-features"},
}
GRU_VARIANTS = {
    "med": {"architecture": MED, "format": "sigmorphon2016", "action_input": 4},
    "med, two layers": {"architecture": MED, "enc_layers": 2, "dec_layers": 2},
    "med, no features": {"architecture": MED, "format": "no-features"},
    "lem": {"architecture": LEM, "format": "no-features", "enc_layers": 2, "dec_layers": 2},
    "lem, features": {"architecture": LEM, "enc_layers": 3, "dec_layers": 1},
}
VARIANTS = {**DYNET_VARIANTS, **GRU_VARIANTS}


def cited_settings(**settings) -> ModelSettings:
    fixed = kind_named(settings["architecture"]).fixed
    return ModelSettings(**{"format": "sigmorphon2017", **SMALL, **fixed, **settings})


def cited_model(seed=0, scale=0.8, samples=(), **settings) -> Model:
    shape = cited_settings(**settings)
    vocabulary = Vocabulary.build(samples or SAMPLES[shape.format], shape)
    generator = np.random.RandomState(seed)
    return Model(vocabulary, {name: generator.uniform(-scale, scale, size).astype(np.float32)
                              for name, size in sorted(architecture_of(vocabulary).shapes.items())})


def inference(model):
    return inference_of(model.weights, model.vocabulary)


def dynet_network(model):
    """The model in DyNet; where that is not installed the test is skipped."""
    pytest.importorskip("dynet")
    from il_morph.engines.dynet.network import network_of

    network = network_of(model.vocabulary)
    network.set_weights(model.weights)
    return network


def dynet_losses(network, instance, sequences):
    """−log P of each action of each sequence, [sequence, step]."""
    import dynet as dy

    dy.renew_cg()
    return np.atleast_2d(network.graph(instance).losses(sequences).npvalue())


def learnable(model, instances):
    """Without those in which HACM must copy an unseen character, whatever it learns."""
    copies_unseen = model.vocabulary.table.rows[UNK].writes is HEAD
    return [instance for instance in instances if not copies_unseen or UNK not in instance.buffer]


@pytest.mark.parametrize("settings", DYNET_VARIANTS.values(), ids=DYNET_VARIANTS)
def test_numpy_and_dynet_agree_on_every_step(settings):
    for seed in (1, 2):
        model = cited_model(seed, **settings)
        network, instances = dynet_network(model), instances_of(model) + learnable(model, edge_cases(model))
        sequences = [random_actions(model.vocabulary, instance) for instance in instances]
        bulk = bulk_log_probabilities(inference(model), instances, sequences)
        for instance, actions, found in zip(instances, sequences, bulk):
            expected = dynet_losses(network, instance, [actions])[0]
            assert -found[np.arange(len(actions)), actions] == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("settings", DYNET_VARIANTS.values(), ids=DYNET_VARIANTS)
def test_several_sequences_are_scored_as_each_alone(settings):
    model = cited_model(3, **settings)
    network, instance = dynet_network(model), instances_of(model)[0]
    long = random_actions(model.vocabulary, instance)[:-1] + [END] * 3
    together = dynet_losses(network, instance, [long, long[:2]])
    assert together[0] == pytest.approx(dynet_losses(network, instance, [long])[0], abs=TOLERANCE)
    assert together[1, :2] == pytest.approx(together[0, :2], abs=TOLERANCE)
    assert not together[1, 2:].any()


def directional_derivative(loss, weights, name, direction, step=0.01):
    """The slope of the loss when a weight moves in this direction."""
    ends = [loss({**weights, name: weights[name] + np.float32(sign * step) * direction}) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("name", ["soft", "soft, two layers", "hacm", "haem", "haem, two layers"])
def test_gradients_are_those_of_finite_differences(name):
    """The loss along a sequence moves with every weight as an update without clipping says."""
    smooth = {"lucky_w": 0.5, "nonlin": "tanh", "mlp": 6} if name.startswith("haem") else {}
    model = cited_model(4, scale=0.5, **{**VARIANTS[name], **smooth})
    network = dynet_network(model)
    import dynet as dy

    instance, (s, a) = instances_of(model)[1], model.vocabulary.actions_of("sa")  # sing
    actions = {"soft": [s, a, END], "hacm": [STEP, s, a, STEP, END],
               "haem": [COPY, a, DELETE, DELETE, COPY, END]}[name.split(",")[0]]

    def loss(weights):
        network.set_weights(weights)
        return float(dynet_losses(network, instance, [actions]).sum())

    network.set_weights(model.weights)
    trainer = dy.SimpleSGDTrainer(network.collection, learning_rate=1.0)
    trainer.set_clip_threshold(0)
    dy.renew_cg()
    total = dy.sum_elems(network.graph(instance).losses([actions]))
    total.value()
    total.backward()
    trainer.update()
    gradients = {each: model.weights[each] - value for each, value in network.weights().items()}
    generator, moved = np.random.RandomState(1), set()
    for each, gradient in gradients.items():
        direction = generator.choice([-1, 1], size=gradient.shape).astype(np.float32) / np.sqrt(gradient.size)
        expected = directional_derivative(loss, model.weights, each, direction)
        assert float((gradient * direction).sum()) == pytest.approx(expected, rel=0.03, abs=3e-3), each
        moved |= {each} if np.abs(gradient).max() > 1e-6 else set()
    assert moved == set(model.weights), "every weight takes part"


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_samples_do_not_influence_each_other(settings):
    model = cited_model(**settings)
    numpy_model, instances = inference(model), instances_of(model) + edge_cases(model)
    sequences = [random_actions(model.vocabulary, instance) for instance in instances]
    bulk = bulk_log_probabilities(numpy_model, instances, sequences)
    for instance, actions, found in zip(instances, sequences, bulk):
        alone = step_log_probabilities(OneByOne(numpy_model), instance, actions)
        assert found == pytest.approx(np.where(np.isinf(alone), 0, alone), abs=TOLERANCE)


@pytest.mark.parametrize("settings", [
    pytest.param(settings, id=name, marks=pytest.mark.slow if "," in name else [])
    for name, settings in VARIANTS.items() if settings["architecture"] != LEM])  # LEM ranks by length
def test_greedy_and_beam_search_in_bulk_find_what_a_plain_search_finds(settings):
    model = cited_model(scale=1.5, **settings)
    numpy_model, instances = inference(model), instances_of(model) + edge_cases(model)
    slow = OneByOne(numpy_model)
    for instance, (found,), best in zip(instances, decode(numpy_model, instances), decode(numpy_model, instances, 3)):
        assert found.actions == greedy(slow, instance).actions
        assert beam(slow, instance, 1)[0].actions == found.actions, "a beam of width 1 is greedy search"
        ours, plain = ([h.log_probability for h in each] for each in (best, beam(slow, instance, 3)))
        assert ours[0] == pytest.approx(plain[0], abs=1e-3)


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_probabilities_of_the_valid_actions_sum_to_one(settings):
    model = cited_model(**settings)
    instances = instances_of(model) + edge_cases(model)
    sequences = [random_actions(model.vocabulary, instance) for instance in instances]
    numpy_model = OneByOne(inference(model))
    for instance, actions in zip(instances, sequences):
        state, position = numpy_model.begin(instance), instance.start
        for last, action in zip((model.vocabulary.system.initial_action, *actions), actions):
            state, scores = numpy_model.step(state, last, position)
            assert np.exp(scores).sum() == pytest.approx(1, abs=TOLERANCE)
            position = model.vocabulary.table.advance(position, action)


@pytest.mark.parametrize("name", ["soft", "hacm", "haem"])
def test_sequences_are_cut_after_50_actions(name):
    model = cited_model(**VARIANTS[name])
    model.weights["output.b"][END] = -1000
    if name == "hacm":
        model.weights["gate.b"][:] = 1000
    found = decode(inference(model), instances_of(model))
    assert {len(hypothesis.actions) for (hypothesis,) in found} == {50}


@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)
def test_a_model_file_gives_the_same_model_back(settings, tmp_path):
    model = cited_model(**settings)
    save_model(tmp_path / "f.model", model)
    again = load_model(tmp_path / "f.model")
    assert again.vocabulary.settings == model.vocabulary.settings
    assert again.vocabulary.as_dict() == model.vocabulary.as_dict()
    instances = instances_of(model)
    assert decode(inference(again), instances, 4) == decode(inference(model), instances, 4)


def test_every_architecture_is_complete():
    kinds = {name: kind_named(name) for name in ARCHITECTURES}
    assert all(callable(kind.architecture) and callable(kind.inference) for kind in kinds.values())
    assert all((name == TRANSDUCER) == (not kind.fixed) for name, kind in kinds.items())
    own = {kind.system.name: name for name, kind in kinds.items() if kind.system}
    assert own == {name: name for name in CITED if name != NWFST}, "NWFST has one of the core, the others theirs"
    assert not own.keys() & SYSTEMS.keys()
    assert {preset.get("architecture", TRANSDUCER) for preset in PRESETS.values()} == set(ARCHITECTURES)


def test_every_architecture_without_an_engine_of_its_own_has_a_network_in_dynet():
    pytest.importorskip("dynet")
    from il_morph.engines.dynet.network import network_of

    models = [cited_model(**VARIANTS[name]) for name in ("soft", "hacm", "haem")] + [random_model(0)]
    networks = {model.vocabulary.settings.architecture: type(network_of(model.vocabulary)) for model in models}
    assert {*networks} == {*ARCHITECTURES} - {NWFST, MED, LEM} and len({*networks.values()}) == len(networks)


# What each of them promises


def scores_after(model, sample, actions=()):
    """The log probabilities of the next step after these actions."""
    instance = model.vocabulary.instance(sample)
    return step_log_probabilities(OneByOne(inference(model)), instance, [*actions, END])[-1]


AVM_SAMPLE = SAMPLES["sigmorphon2016"][1]  # sing, of three attributes


def test_soft_reads_features_in_the_order_of_their_attributes():
    model = cited_model(**VARIANTS["soft"])
    reversed_tag = ",".join(reversed(AVM_SAMPLE.tag.split(",")))
    assert reversed_tag != AVM_SAMPLE.tag
    expected = scores_after(model, AVM_SAMPLE)
    assert scores_after(model, Sample("sing", reversed_tag, None)) == pytest.approx(expected, abs=0)
    attributes = [feature.split("=")[0] for feature in AVM_SAMPLE.tag.split(",")]
    rows = [model.vocabulary.features[feature] for _, feature in sorted(zip(attributes, AVM_SAMPLE.tag.split(",")))]
    assert list(model.vocabulary.instance(AVM_SAMPLE).slots) == rows


def test_soft_reads_an_unseen_feature_as_unk_and_no_absent_one():
    model = cited_model(**VARIANTS["soft"])
    unseen = Sample("sing", AVM_SAMPLE.tag + ",zz=NEW", None)
    assert model.vocabulary.instance(unseen).slots[-1] == UNK
    before, plain = scores_after(model, unseen), scores_after(model, AVM_SAMPLE)
    assert before != pytest.approx(plain, abs=TOLERANCE)
    model.weights["features"][UNK] += 1
    assert scores_after(model, unseen) != pytest.approx(before, abs=TOLERANCE)
    assert scores_after(model, AVM_SAMPLE) == pytest.approx(plain, abs=0), "absent attributes are not read at all"


def test_soft_takes_an_unseen_character_as_the_average_of_all_others():
    model = cited_model(**VARIANTS["soft"])
    others = np.delete(model.weights["characters"], [UNK, model.vocabulary.characters["w"]], axis=0)
    model.weights["characters"][model.vocabulary.characters["w"]] = others.mean(axis=0)  # then the average stays
    unseen = scores_after(model, Sample("ü", AVM_SAMPLE.tag, None))
    assert scores_after(model, Sample("w", AVM_SAMPLE.tag, None)) == pytest.approx(unseen, abs=TOLERANCE)
    model.weights["characters"][UNK] += 1
    assert scores_after(model, Sample("ü", AVM_SAMPLE.tag, None)) == pytest.approx(unseen, abs=TOLERANCE)


def test_soft_as_it_is_written_down():
    """The first step with one layer, in plain NumPy."""
    model = cited_model(5, **VARIANTS["soft"])
    weights, instance = model.weights, model.vocabulary.instance(AVM_SAMPLE)

    def lstm(name, inputs):
        part = {key[len(name) + 1:]: value for key, value in weights.items() if key.startswith(f"{name}.")}
        h = c = np.zeros(len(part["bi"]))
        outputs = []
        for x in inputs:
            i = 1 / (1 + np.exp(-(part["x2i"] @ x + part["h2i"] @ h + part["c2i"] @ c + part["bi"])))
            c = (1 - i) * c + i * np.tanh(part["x2c"] @ x + part["h2c"] @ h + part["bc"])
            o = 1 / (1 + np.exp(-(part["x2o"] @ x + part["h2o"] @ h + part["c2o"] @ c + part["bo"])))
            h = o * np.tanh(c)
            outputs.append(h)
        return outputs

    characters = weights["characters"]
    read = [characters[BEGIN], *weights["features"][list(instance.slots)], *characters[list(instance.buffer[1:])]]
    encoded = np.hstack([lstm("encoder_forward.0", read), lstm("encoder_backward.0", read[::-1])[::-1]])
    s = lstm("decoder.0", [characters[BEGIN]])[0]
    scores = np.array([weights["attention.v"][0] @ np.tanh(weights["attention.W"] @ s + weights["attention.U"] @ h)
                       for h in encoded])
    alpha = np.exp(scores) / np.exp(scores).sum()
    o = np.tanh(weights["context.W"] @ np.concatenate([s, alpha @ encoded]))
    logits = (weights["output.W"] @ o + weights["output.b"])[END:]
    expected = logits - np.log(np.exp(logits).sum())
    assert scores_after(model, AVM_SAMPLE)[END:] == pytest.approx(expected, abs=TOLERANCE)


def test_hacm_mixes_what_it_generates_with_what_it_reads():
    """g → 1: nothing is copied; g → 0: x_i has all the probability, be it BEGIN, a character or END."""
    model = cited_model(**VARIANTS["hacm"])
    sample, vocabulary = SAMPLES["sigmorphon2017"][0], model.vocabulary
    mixed = scores_after(model, sample, [STEP])
    model.weights["gate.b"][:] = 1000
    generated = scores_after(model, sample, [STEP])
    gate = 1 - (np.exp(mixed) / np.exp(generated))[STEP]
    x = vocabulary.characters["w"]
    others = [action for action in range(BEGIN, len(vocabulary.actions)) if action != x]
    assert np.exp(mixed[others]) == pytest.approx((1 - gate) * np.exp(generated[others]), abs=TOLERANCE)
    assert np.exp(mixed[x]) == pytest.approx((1 - gate) * np.exp(generated[x]) + gate, abs=TOLERANCE)
    assert 0.001 < gate < 0.999
    model.weights["gate.b"][:] = -1000
    for steps, copied in ((0, BEGIN), (1, x), (5, END), (7, END)):
        assert np.exp(scores_after(model, sample, [STEP] * steps)[copied]) == pytest.approx(1, abs=TOLERANCE)


def test_hacm_writes_an_unseen_character_and_steps_over_it():
    model = cited_model(**VARIANTS["hacm"])
    vocabulary, instance = model.vocabulary, model.vocabulary.instance(Sample("wüd", "V;PST", None))
    actions = (STEP, STEP, UNK, STEP, END)
    losses = step_losses(inference(model), [instance], [GoldTeacher(actions)])[0]
    assert losses[2:4] == [0, 0] and 0 not in (losses[0], losses[1], losses[4])
    assert execute(actions, instance, vocabulary) == "ü"
    assert describe(actions, instance, vocabulary) == "> > +ü >"
    (found,), = decode(inference(model), [model.vocabulary.instance(Sample("üüü", "V;PST", None))])
    copied = [n for n, action in enumerate(found.actions) if action == UNK]
    assert all(found.actions[n + 1] == STEP for n in copied[:-1])
    assert found.output.count("ü") == len(copied)


def test_hacm_stays_at_the_end_whatever_it_steps():
    model = cited_model(**VARIANTS["hacm"])
    instance = model.vocabulary.instance(Sample("wa", "V;PST", None))
    walked = list(model.vocabulary.table.walk([STEP] * 6, instance.start, instance.end))
    assert [position for _, position in walked] == [0, 1, 2, 3, 3, 3]
    assert execute([STEP] * 6 + [model.vocabulary.actions["k"]], instance, model.vocabulary) == "k"


def only_reading(model, block):
    """The hidden layer of HAEM reads nothing but this block (and its bias)."""
    from il_morph.cited.haem2017.inference import HaemArchitecture, split

    blocks = HaemArchitecture(model.vocabulary).hidden[0].blocks
    for name, columns in split(model.weights["hidden.W"].T, blocks).items():
        if name != block:
            columns[:] = 0
    return model


def test_haem_forgets_what_was_deleted_at_an_insertion():
    model = only_reading(cited_model(**VARIANTS["haem"]), "deleted")
    sample, insert = SAMPLES["sigmorphon2017"][0], model.vocabulary.actions["a"]
    empty = scores_after(model, sample)
    deleted = scores_after(model, sample, [DELETE])
    assert deleted != pytest.approx(empty, abs=TOLERANCE)
    assert scores_after(model, sample, [DELETE, COPY]) == pytest.approx(deleted, abs=TOLERANCE), "a copy keeps it"
    assert scores_after(model, sample, [DELETE, DELETE, insert]) == pytest.approx(empty, abs=TOLERANCE)
    assert scores_after(model, sample, [insert, COPY]) == pytest.approx(empty, abs=TOLERANCE)


def test_haem_reads_what_it_has_written():
    model = only_reading(cited_model(**VARIANTS["haem"]), "written")
    sample, w = SAMPLES["sigmorphon2017"][0], model.vocabulary.actions["w"]
    copied = scores_after(model, sample, [COPY])
    assert scores_after(model, sample, [DELETE, w]) == pytest.approx(copied, abs=TOLERANCE), "w copied, w inserted"
    assert scores_after(model, sample, [DELETE]) == pytest.approx(scores_after(model, sample), abs=TOLERANCE)
    assert copied != pytest.approx(scores_after(model, sample), abs=TOLERANCE)


def test_haem_knows_characters_that_only_outputs_have():
    model = cited_model(**VARIANTS["haem"])
    inputs, outputs = ({character for sample in SAMPLES["sigmorphon2017"] for character in getattr(sample, side)}
                       for side in ("input", "output"))
    only = outputs - inputs
    assert only and all(character in model.vocabulary.characters for character in only)


@pytest.mark.parametrize("block", ["enc_fwd", "enc_bwd", "written", "deleted", "history"])
def test_haem_has_a_learnt_vector_for_what_is_empty(block):
    """At the end of the input for the buffer, before the first action for the others."""
    model = cited_model(**VARIANTS["haem"])
    sample = SAMPLES["sigmorphon2017"][3]  # a
    at, elsewhere = (([COPY], []) if block.startswith("enc") else ([], [COPY] if block != "deleted" else [DELETE]))
    before, other = scores_after(model, sample, at), scores_after(model, sample, elsewhere)
    model.weights[f"empty.{block}"] += 1
    assert scores_after(model, sample, at) != pytest.approx(before, abs=TOLERANCE)
    assert scores_after(model, sample, elsewhere) == pytest.approx(other, abs=TOLERANCE)


def test_haem_ignores_an_unseen_feature_and_weighs_a_present_one():
    model = cited_model(**VARIANTS["haem"])
    plain = scores_after(model, Sample("walk", "V;PST", None))
    assert scores_after(model, Sample("walk", "V;NEW;PST", None)) == pytest.approx(plain, abs=0)
    assert scores_after(model, Sample("walk", "V;3", None)) != pytest.approx(plain, abs=TOLERANCE)


def test_gold_sequences_of_the_cited_systems():
    assert kind_named(SOFT).system.gold("walk〰〰", "walked") == [*"walked", "⟫"]
    assert kind_named(SOFT).system.gold("geese", "goose〰"[:5]) == [*"goose", "⟫"]
    assert kind_named(MED).system.gold("walk〰〰", "walked") == kind_named(LEM).system.gold("wa〰〰lk", "walked")
    assert kind_named(MED).system.gold("walk〰〰", "walked") == [*"walked", "⟫"]
    assert kind_named(HACM).system.gold("ab〰", "acd") == ["<STEP>", "a", "<STEP>", "c", "d", "<STEP>", "⟫"]
    assert kind_named(HAEM_2017).system.gold("ab〰", "acd", "close") == ["<COPY>", "<DEL>", "c", "d", "⟫"]


def test_soft_says_what_its_attention_is_on():
    """As the attention that is computed from the states; features count as BEGIN."""
    model = cited_model(6, scale=2.0, **VARIANTS["soft"])
    numpy_model, instances = inference(model), instances_of(model)
    encoded, states = numpy_model.encode(instances), numpy_model.initial_states()
    rows, actions, found = np.arange(len(instances)), np.full(len(instances), BEGIN), set()
    for _ in range(5):
        states = numpy_model.step(encoded, rows, rows * 0, actions, states)
        places = numpy_model.attention(encoded, rows, states.top).argmax(axis=1)
        slots = np.array([len(instance.slots) for instance in instances])
        heads = numpy_model.heads(rows * 0, states)
        assert heads.tolist() == [0 if place <= number else place - number for place, number in zip(places, slots)]
        actions, found = numpy_model.logits(states)[:, END + 1:].argmax(axis=1) + END + 1, found | set(heads.tolist())
    assert len(found) > 1


@pytest.mark.parametrize("name", ["soft", "hacm", "haem", "med", "lem"])
def test_a_prediction_can_be_explained(name):
    """What is written along the steps is the output; their probabilities multiply to its own."""
    model = cited_model(7, scale=1.0, **VARIANTS[name])
    for sample in SAMPLES[model.vocabulary.settings.format]:
        for width in (1, 4):
            best = decode(inference(model), [model.vocabulary.instance(sample)], width)[0][0]
            trace = trace_best(Predictor(model), sample, sample.output, width)
            assert (trace.output, len(trace.steps)) == (best.output, len(best.actions))
            assert trace.steps[-1].output == best.output
            product = np.prod([step.probability for step in trace.steps])
            assert product == pytest.approx(np.exp(best.log_probability), rel=1e-3, abs=1e-12)
            assert {step.edit.kind for step in trace.steps} <= {
                **dict.fromkeys(("soft", "med", "lem"), {"insert", "end"}), "hacm": {"insert", "step", "idle", "end"},
                "haem": {"copy", "delete", "insert", "end"}}[name]
            assert best.output in trace_text(trace)
