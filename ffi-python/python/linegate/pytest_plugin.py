"""The pytest plugin, which is there wherever the package is installed: fixtures of `linegate.testing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from linegate.testing import Malformed, Recorder


@pytest.fixture
def linegate_recorder() -> Recorder:
    """Stands where something would act, and keeps what it was called with: see `linegate.testing.Recorder`."""
    from linegate.testing import Recorder

    return Recorder()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with a parameter `malformed_lines` runs once for each of them: see `linegate.testing.Malformed`."""
    if "malformed_lines" in metafunc.fixturenames:
        from linegate.testing import malformed_lines

        lines: list[Malformed] = malformed_lines()
        metafunc.parametrize("malformed_lines", lines, ids=[line.name for line in lines])
