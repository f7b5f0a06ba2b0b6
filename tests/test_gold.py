"""Gold sequences in indices: executing them gives the output, in both systems and with both wraps."""
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from il_morph.data.formats import RESERVED, Sample
from il_morph.model.search import execute
from il_morph.model.settings import ModelSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.actions import END
from il_morph.transitions.aligners import make_aligner

words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="".join(RESERVED) + "\t\n"), max_size=8)


@pytest.mark.parametrize("transducer", ["haem", "hard"])
@pytest.mark.parametrize("wraps", ["both", "close"])
@pytest.mark.parametrize("name", ["cls", "dumb", "smart"])
@settings(max_examples=25, deadline=None)
@given(pairs=st.lists(st.tuples(words, words.filter(bool)), min_size=1, max_size=4))
def test_executing_the_gold_actions_gives_the_output(transducer, wraps, name, pairs):
    samples = [Sample(x, "", y) for x, y in pairs]
    vocabulary = Vocabulary.build(samples, ModelSettings(format="no-features", transducer=transducer, tag_wraps=wraps))
    instances = [vocabulary.instance(sample) for sample in samples]
    for instance, aligned in zip(instances, make_aligner(name, iterations=3)(pairs)):
        actions = vocabulary.gold_actions(aligned)
        position = instance.start
        for action in actions:
            assert action in vocabulary.table.valid_actions(position == instance.end)
            position = vocabulary.table.advance(position, action)
        assert actions[-1] == END and END not in actions[:-1]
        assert execute(actions, instance, vocabulary) == instance.sample.output


def test_try_reverse_keeps_the_direction_that_copies_more():
    pairs = [("abcab", "xxabxxcab")]
    forward = make_aligner("dumb")(pairs)
    assert make_aligner("dumb", reverse=True)(pairs) == [("〰〰〰〰abcab", "xxabxxcab")] != forward
