"""The networks of the architectures in DyNet."""

from __future__ import annotations

from typing import Callable

from il_morph.cited.hacm.network import HacmNetwork
from il_morph.cited.haem2017.network import HaemNetwork
from il_morph.cited.soft.network import SoftNetwork
from il_morph.engines.dynet.network import AnyNetwork, DynetNetwork
from il_morph.model.settings import HACM, HAEM_2017, SOFT, TRANSDUCER
from il_morph.model.vocabulary import Vocabulary

NETWORKS: dict[str, Callable[[Vocabulary], AnyNetwork]] = {
    TRANSDUCER: DynetNetwork,
    SOFT: SoftNetwork,
    HACM: HacmNetwork,
    HAEM_2017: HaemNetwork,
}


def network_of(vocabulary: Vocabulary) -> AnyNetwork:
    return NETWORKS[vocabulary.settings.architecture](vocabulary)
