"""Broken game files are refused with an error that names game, function and field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rookery import BrokenGame, load
from rookery.games import rules
from support import CONNECT_FOUR

GOOD = Path(CONNECT_FOUR).read_text().replace("connect_four_mover", "my_mover")


def write_game(folder: Path, old: str, new: str) -> str:
    """Write the example with one thing changed, and with a field of its own for each test."""
    assert old in GOOD
    path = folder / "my_game.py"
    own_field = "mover_" + "".join(letter for letter in folder.name if letter.isalnum())
    path.write_text(GOOD.replace(old, new).replace("my_mover", own_field))
    return str(path)


def test_a_game_that_goes_on_without_a_legal_move_is_refused(tmp_path):
    with pytest.raises(BrokenGame, match=r"legal lists nothing in '\.\.\..*though over says the game goes on"):
        load(write_game(tmp_path, "ROWS - 1) & uint64(1) == uint64(0)", "ROWS - 1) & uint64(1) == uint64(2)"))


def test_the_unbroken_file_loads(tmp_path):
    assert load(write_game(tmp_path, "connect_four", "my_game")).start().legal().tolist() == list(range(7))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            '@implements("payoff", STATE)',
            "@njit(cache=True, nogil=True)",
            "connect_four: these functions are missing: payoff",
        ),
        (
            '@implements("payoff", STATE)',
            '@implements("reward", STATE)',
            "my_game: 'reward' is no function of a game; .*payoff",
        ),
        (
            "def payoff(state: State, seat: int)",
            "def payoff(state: State, player: int)",
            r"my_game: payoff must take the arguments \(state, seat\), not \(state, player\)",
        ),
        (
            "def mover(state: State)",
            "def mover(state: State, seed: int)",
            r"my_game: mover must take the arguments \(state\), not \(state, seed\)",
        ),
        (
            "return state.my_mover",
            "return state.colour",
            "my_game: mover uses the field 'colour', which its state does not have; the fields are stones, mover_",
        ),
        ("align=True", "align=False", "my_game: the state's dtype must be a record made with align=True"),
        ("@register\n", "", "no game is registered in .*my_game.py"),
        ('    summary = "drop', '    remark = "drop', "connect_four: the class ConnectFour does not declare 'summary'"),
        ("def text(", "def written(", "connect_four: the class ConnectFour does not define the method 'text'"),
        (
            "from rookery import BadInput",
            "from rookery import Nothing",
            "my_game: the file .*my_game.py fails: ImportError",
        ),
        ("@register", "@register(", "my_game: the file .*my_game.py fails: SyntaxError"),
        (
            "import numpy as np",
            "import sys, numpy as np\nsys.exit(3)",
            "my_game: the file .*my_game.py fails: SystemExit",
        ),
        (
            '"connect_four", 1, STATE',
            '"connect_four", "one", STATE',
            "connect_four: 'version' must be of type int, not 'one'",
        ),
        (
            "actions, most_legal, longest, vanishing = COLS",
            "actions, more, longest, vanishing = COLS",
            "'most_legal' must be a whole number",
        ),
        (
            "longest, vanishing = COLS, COLS",
            "longest, vanishing = COLS, 9",
            "connect_four: 'most_legal' .9. exceeds 'actions'",
        ),
        (
            "vanishing = COLS, COLS, ROWS * COLS",
            "vanishing = COLS, COLS, 5",
            "connect_four: a game goes on after 'longest' .5. actions",
        ),
        (
            "vanishing = COLS, COLS,",
            "vanishing = COLS, 2,",
            "connect_four: legal lists 7 actions in .* more than most_legal .2.",
        ),
        (
            '    observations = {"planes"',
            '    other = {"planes"',
            "connect_four: 'observations' must map kinds to shapes, not None",
        ),
        (
            "    def text(",
            "    teams = (0,)\n\n    def text(",
            "connect_four: 'teams' must name the team of each of 2 seats",
        ),
        (
            "    def text(",
            '    information = "some"\n\n    def text(',
            "'information' must be 'perfect' or 'hidden', not 'some'",
        ),
        (
            "    def text(",
            "    def __init__(self, n: int = 1):\n        pass\n\n    def text(",
            "its option 'n' must be an attribute",
        ),
        (
            "    def text(",
            "    def __init__(self):\n        1 / 0\n\n    def text(",
            "__init__ fails: ZeroDivisionError",
        ),
        ("        signs = [", "        signs = 1 / 0, [", "connect_four: text fails: ZeroDivisionError"),
        (
            "@register",
            "@register\nclass Other(Game):\n    name, version, state, summary = 'o', 1, STATE, 's'\n"
            "    text = parse = lambda *a: ''\n\n\n@register",
            "its file registers Other already; a file holds one game",
        ),
        (
            '@implements("over", STATE)',
            '@implements("over", STATE)\ndef first(state):\n    return False\n\n\n@implements("over", STATE)',
            "my_game: over is implemented twice, in lines",
        ),
    ],
)
def test_a_broken_file_is_refused(tmp_path, old, new, complaint):
    with pytest.raises(BrokenGame, match=complaint):
        load(write_game(tmp_path, old, new))


def test_a_dtype_already_taken_is_refused(tmp_path):
    load(CONNECT_FOUR).start()
    path = tmp_path / "second.py"
    path.write_text(Path(CONNECT_FOUR).read_text())
    with pytest.raises(BrokenGame, match="second: its state's dtype is taken already by the game connect_four"):
        load(str(path))


def test_a_rule_that_does_not_compile_is_named_when_the_file_is_loaded(tmp_path):
    path = write_game(tmp_path, "return hashed(hashed", "return nowhere(hashed")
    with pytest.raises(BrokenGame, match=r"my_game: key does not compile: .*nowhere.*my_game.py"):
        load(path)


def test_an_unknown_field_in_a_helper_is_named_too(tmp_path):
    path = write_game(tmp_path, "    found = uint64(0)", "    found = stones.colour")
    with pytest.raises(BrokenGame, match=r"my_game: over does not compile: .*colour"):
        load(path)


def test_a_file_mended_after_an_error_loads(tmp_path):
    with pytest.raises(BrokenGame):
        load(write_game(tmp_path, "return state.my_mover", "return state.colour"))
    assert load(write_game(tmp_path, "connect_four", "my_game")).name == "my_game"


def test_a_broken_edit_leaves_the_loaded_game_in_use(tmp_path):
    game = load(write_game(tmp_path, "connect_four", "my_game"))
    with pytest.raises(BrokenGame):
        load(write_game(tmp_path, "return state.my_mover", "return state.colour"))
    position = game.start()
    position.play(3)
    assert position.mover == 1


def test_a_record_of_no_game_is_refused():
    with pytest.raises(TypeError, match="belongs to no game; make states with"):
        rules.mover(np.zeros(1, [("mover", np.int32)])[0])


def test_a_game_may_extend_another(tmp_path):
    load(CONNECT_FOUR)
    path = tmp_path / "variant.py"
    path.write_text(
        f"from rookery import load, register\n\nbase = type(load({CONNECT_FOUR!r}))\n\n\n"
        "@register\nclass Variant(base):\n    name = 'variant'\n"
    )
    game = load(str(path))
    assert (game.name, game.start().legal().tolist()) == ("variant", list(range(7)))


def test_holes_between_fields_are_filled_and_copied():
    plain = np.dtype([("first", np.uint8), ("second", np.uint64), ("third", np.int16)], align=True)
    whole = rules.completed(plain, "mark")
    assert [whole.fields[name][1] for name in plain.names] == [plain.fields[name][1] for name in plain.names]
    states = np.frombuffer(bytes(range(24)), whole)
    assert states.copy().tobytes() == bytes(range(24))
