"""Trainings of the authors' program through the native engine."""
import pytest

from il_morph.engines.native import kernels_numpy
from il_morph.engines.native.engine import NativeEngine
from tests import test_trajectories
from tests.shared import needs_shared
from tests.test_native_gradients import compiled_kernels

pytestmark = needs_shared
KERNELS = {"numpy": lambda: kernels_numpy, "numba": compiled_kernels}


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("path", test_trajectories.FILES, ids=lambda path: path.stem)
def test_every_update_is_that_of_the_authors_program(path, kernels):
    test_trajectories.test_every_update_is_that_of_the_authors_program(path, NativeEngine(KERNELS[kernels]()))
