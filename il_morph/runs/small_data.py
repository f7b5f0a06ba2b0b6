"""Small data: which epoch is kept when there is little development data, and a warning about it."""
from __future__ import annotations

import logging

from il_morph.data.formats import Parts
from il_morph.model.settings import BY_LOSS
from il_morph.runs.spec import RunSpec

SMALL_DEV = 50  # lines; with fewer, many epochs have the same dev accuracy. The paper's tables have at least 50
SMALL_DATA = 100  # lines in all

log = logging.getLogger(__name__)


def with_rule_for_ties(spec: RunSpec, parts: Parts) -> RunSpec:
    """With little development data, let the dev loss decide between equally accurate epochs, unless a rule is given."""
    if len(parts.dev) >= SMALL_DEV or spec.training.mode == "eval":
        return spec
    if "pick_ties" in spec.settings or spec.training.pick_ties != "earlier" or spec.training.pick_loss:
        return spec
    return spec.with_settings(pick_ties=BY_LOSS)


def warn_of_small_data(spec: RunSpec, parts: Parts) -> None:
    """Warn how much a single line counts in small development data, and say what to do with few lines."""
    dev, every = len(parts.dev), len(parts.train) + len(parts.dev) + len(parts.test or [])
    if dev >= SMALL_DEV or spec.training.mode == "eval":
        return
    counted = "1 line" if dev == 1 else f"{dev} lines"
    log.warning("dev: %s, so one line is %.0f points of dev accuracy: it chooses the best epoch badly%s", counted,
                100 / dev, "; one file and --folds=5 use all data in turns" if every < SMALL_DATA else "")
    if spec.training.pick_ties == BY_LOSS:
        log.info("dev: epochs of the same dev accuracy are told apart by their dev loss (--pick-ties=%s)", BY_LOSS)
