"""Indices of symbols, and samples in indices."""
import pytest

from il_morph.data.formats import Sample
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Index, Vocabulary, attribute
from il_morph.transitions.actions import BEGIN, END, UNK

SPECIALS = ["<UNK>", "⟪", "⟫", "<DEL>", "<COPY>"]
SAMPLES = [Sample("ba", "V;PST;3", "bed"), Sample("ca", "N;PL;3", "ac")]
AVM = [Sample("ba", "pos=V,tense=PST,num=SG", "b"), Sample("ca", "pos=N,num=PL", "c")]


def build(samples=SAMPLES, **settings):
    return Vocabulary.build(samples, ModelSettings(**{"format": "sigmorphon2017", **settings}))


def instance(vocabulary, word="ba", tag="V;PST;3"):
    return vocabulary.instance(Sample(word, tag, None))


def test_an_index_counts_each_symbol_once_and_does_not_know_others():
    index = Index(["<UNK>", "b", "a", "b"])
    assert (index.symbols, len(index)) == (["<UNK>", "b", "a"], 3)
    assert (index["a"], index["z"], "a" in index, "z" in index) == (2, UNK, True, False)


def test_symbols_come_in_order_of_first_occurrence_input_before_output():
    vocabulary = build()
    assert vocabulary.actions.symbols == [*SPECIALS, "b", "a", "e", "d", "c"]
    assert vocabulary.features.symbols == ["<UNK>", "PST", "3", "PL"]
    assert vocabulary.pos.symbols == ["<UNK>", "V", "N"]


def test_with_parameter_tying_every_character_can_be_inserted():
    vocabulary = build([Sample("x", "N", "y")])
    assert vocabulary.characters is vocabulary.actions
    assert UNK not in vocabulary.actions_of("xy")


def test_without_parameter_tying_inputs_and_outputs_have_their_own_index():
    vocabulary = build(param_tying=False)
    assert vocabulary.characters.symbols == [*SPECIALS[:3], "b", "a", "c"]
    assert vocabulary.actions.symbols == [*SPECIALS, "b", "e", "d", "a", "c"]


def test_the_hard_attention_system_has_its_own_specials():
    assert build(transducer="hard").actions.symbols[:5] == ["<UNK>", "⟪", "⟫", "<STEP>", "b"]


def test_an_instance_is_wrapped_and_starts_after_begin():
    found = instance(build())
    assert found.buffer == (BEGIN, 5, 6, END)
    assert (found.text, found.start, found.end) == ("⟪ba⟫", 1, 3)


def test_hard_attention_starts_at_begin():
    assert instance(build(transducer="hard")).start == 0


def test_tag_wraps_close_has_no_begin_and_pops_nothing():
    found = instance(build(tag_wraps="close"))
    assert (found.buffer, found.text, found.start, found.end) == ((5, 6, END), "ba⟫", 0, 2)


def test_the_empty_input_is_wrapped_as_well():
    found = instance(build(), "")
    assert (found.buffer, found.text, found.start, found.end) == ((BEGIN, END), "⟪⟫", 1, 1)


def test_each_feature_has_its_slot_wherever_it_stands():
    vocabulary = build()
    assert instance(vocabulary, tag="V;PST;3").slots == (1, 2, 0)
    assert instance(vocabulary, tag="V;PL;PST").slots == (1, 0, 3)
    assert instance(vocabulary, tag="V;3;3").slots == (0, 2, 0)
    assert instance(vocabulary, tag="V").slots == (0, 0, 0)


def test_unseen_symbols():
    found = instance(build(), "bxa", "ADV;PST;FUT")
    assert found.buffer == (BEGIN, 5, UNK, 6, END)
    assert found.text == "⟪bxa⟫"
    assert found.pos == UNK
    assert found.slots == (1, 0, 0)


def test_unseen_counts_samples_not_symbols():
    samples = [Sample("xx", "V;PST", "b"), Sample("b", "V;FUT;COND", "zz"), Sample("b", "ADV", "b"), SAMPLES[0]]
    assert build().unseen(samples) == {"input characters": 1, "output characters": 1, "features": 2}


def test_blanks_in_features_and_combining_characters_are_kept():
    vocabulary = build([Sample("e\u0301", "N; PL;PL", "\u200ee ")])
    assert vocabulary.features.symbols == ["<UNK>", " PL", "PL"]
    assert vocabulary.actions.symbols[5:] == ["e", "\u0301", "\u200e", " "]


def test_without_pos_embedding_the_first_feature_is_one_of_the_others():
    vocabulary = build(pos_emb=False)
    assert vocabulary.pos is None
    assert vocabulary.features.symbols == ["<UNK>", "V", "PST", "3", "N", "PL"]
    assert (instance(vocabulary).pos, instance(vocabulary).slots) == (None, (1, 2, 3, 0, 0))


def test_in_a_bag_of_features_the_pos_is_one_of_them():
    vocabulary = build(feat_input=0)
    assert vocabulary.pos is None
    assert vocabulary.number_of_slots == 5


def test_the_data_without_features_have_one_constant_feature():
    vocabulary = build([Sample("a", "", "b")], format="no-features", pos_emb=False)
    assert vocabulary.features.symbols == ["<UNK>", ""]
    assert instance(vocabulary, "a", "whatever").slots == (1,)


def test_attribute_value_features_have_one_slot_per_attribute():
    vocabulary = build(AVM, format="sigmorphon2016", avm_feat_format=True)
    assert vocabulary.attributes.symbols == ["tense", "num"]
    assert vocabulary.features.symbols == ["<UNK>", "tense=PST", "num=SG", "num=PL"]
    assert vocabulary.number_of_slots == 2
    assert instance(vocabulary, tag="pos=N,num=PL,tense=PST").slots == (1, 3)
    assert instance(vocabulary, tag="pos=N,num=DU,aspect=PFV").slots == (0, 0)


@pytest.mark.parametrize("feature, expected", [("case=ACC", "case"), ("a=b=c", "a"), ("PST", "PST")])
def test_attribute(feature, expected):
    assert attribute(feature) == expected


@pytest.mark.parametrize("samples, settings", [
    (SAMPLES, {}), (SAMPLES, {"param_tying": False}), (SAMPLES, {"feat_input": 0}),
    (AVM, {"format": "sigmorphon2016", "avm_feat_format": True}), (SAMPLES, {"transducer": "hard"}),
])
def test_a_vocabulary_survives_the_model_file(samples, settings):
    vocabulary = build(samples, **settings)
    copy = Vocabulary.from_dict(vocabulary.as_dict(), vocabulary.settings)
    assert copy.as_dict() == vocabulary.as_dict()
    assert [copy.instance(sample) for sample in samples] == [vocabulary.instance(sample) for sample in samples]
    assert (copy.characters is copy.actions) == vocabulary.settings.param_tying
