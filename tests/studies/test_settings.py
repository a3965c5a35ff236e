"""Settings of runs."""

from __future__ import annotations

import pytest

from rookery.errors import BadInput
from rookery.studies.settings import differing, number, read_json, yes_or_no


@pytest.mark.parametrize("value", [True, "1", None, float("nan"), float("inf"), -0.1, 2.1])
def test_what_is_no_number_in_the_range_is_refused(value):
    number("rate", 2, 0, 2)
    with pytest.raises(BadInput, match=r"rate must be a number in 0\.\.2"):
        number("rate", value, 0, 2)


def test_what_is_neither_true_nor_false_is_refused():
    yes_or_no("probe", False)
    with pytest.raises(BadInput, match="probe must be true or false, not 1"):
        yes_or_no("probe", 1)


def test_keys_that_differ_or_are_missing_are_told():
    assert differing({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}) == ["b 3, not 2", "c 4, not None"]


def test_a_file_of_settings_is_read_in_its_version_alone(tmp_path):
    path = tmp_path / "settings.json"
    assert read_json(path, 1) is None
    path.write_text('{"format": 1, "seed": 2}')
    assert read_json(path, 1) == {"format": 1, "seed": 2}
    with pytest.raises(BadInput, match="of no run that this program knows"):
        read_json(path, 2)
    path.write_text("{")
    with pytest.raises(BadInput, match="is damaged"):
        read_json(path, 1)
