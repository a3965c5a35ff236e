"""Results of matches as lines for people."""

from __future__ import annotations

from arena.stored import record
from rookery.arena.matches import Match, MatchSettings
from rookery.arena.ratings import fit
from rookery.arena.report import match_json, match_lines, ratings_lines
from rookery.games.library import load


def three_of_four() -> Match:
    """A match of two pairs in which A wins three games, two of them as team 0, and loses one."""
    match = Match(load("pylos"), ("strong", "weak"), MatchSettings(games=4), "random:6")
    for number, score in enumerate((1.0, 0.0, 1.0, 1.0)):
        match.add(record(number, score=score))
    return match


def test_both_players_have_their_own_line():
    lines = [line.split() for line in match_lines(three_of_four())]
    assert ["A", "strong", "3", "0", "1", "75.0%"] in [words[:6] for words in lines]
    assert ["B", "weak", "1", "0", "3", "25.0%"] in [words[:6] for words in lines]
    assert ["who", "begins", "scores", "75.0", "%"] in lines


def test_a_program_is_told_the_same():
    told = match_json(three_of_four())
    assert (told["wins"], told["draws"], told["losses"], told["score"]) == (3, 0, 1, 0.75)
    assert (told["pairs"], told["pair_counts"], told["first_team_score"]) == (2, [0, 0, 1, 0, 1], 0.75)


def test_the_share_of_draws_is_told_only_where_there_were_some():
    decided = [("random", "a", 1.0, 5), ("a", "random", 1.0, 5)]
    assert ratings_lines(fit(decided), "pylos")[-1].endswith("); no game was drawn")
    assert "; equal players draw " in ratings_lines(fit([*decided, ("a", "random", 0.5, 10)]), "pylos")[-1]
