"""Matches: pairs, many games at once, clocks, and players that fail."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from arena import stored
from arena.fakes import (
    FAILURES,
    Batched,
    Crowded,
    Failing,
    Keeper,
    Lowest,
    Oracle,
    Seeded,
    Slow,
    give_up,
)
from rookery.arena.clocks import MARGIN, TimeControl, parse_time_control
from rookery.arena.matches import Match, MatchSettings, play_match
from rookery.arena.player import PlayerFailed
from rookery.arena.records import final_position
from rookery.arena.sprt import Sprt
from rookery.errors import BadInput
from rookery.games.library import load
from support import CONNECT_FOUR

SMALL = "domineering:rows=4,cols=4"


def essence(match):
    """All of a match that its seed should decide."""
    free = {"match": "", "date": "", "seconds": (0.0, 0.0)}
    return [replace(match.records[number], **free) for number in sorted(match.records)]


def played(spec, first, second, games=8, **settings):
    return play_match(load(spec), first, second, MatchSettings(games=games, **settings))


def test_games_come_in_pairs_from_one_opening_with_the_seats_swapped():
    match = played(CONNECT_FOUR, Seeded, Lowest, games=20, seed=2)
    assert sorted(match.records) == list(range(20))
    for number in range(0, 20, 2):
        one, other = match.records[number], match.records[number + 1]
        assert one.pair == other.pair == number // 2
        assert (one.start, one.opening, one.moves[: one.opening]) == (
            other.start,
            other.opening,
            other.moves[: one.opening],
        )
        assert one.players == ("seeded", "lowest")
        assert other.players == ("lowest", "seeded")
    openings = {record.actions[: record.opening] for record in match.records.values()}
    assert len(openings) == 10
    assert len({record.match for record in match.records.values()}) == 1


def test_pairs_that_are_known_are_left_out_and_all_others_are_as_ever():
    whole = played(CONNECT_FOUR, Seeded, Lowest, games=8, seed=2)
    rest = played(CONNECT_FOUR, Seeded, Lowest, games=8, seed=2, known=frozenset({0, 2}))
    assert sorted(rest.records) == [2, 3, 6, 7]
    assert essence(rest) == [record for record in essence(whole) if record.number // 2 in (1, 3)]
    assert rest.score.pairs == (whole.pair(1), whole.pair(3))


def test_a_sequential_test_needs_all_pairs():
    with pytest.raises(BadInput, match="none may be known from before"):
        MatchSettings(sprt=Sprt(0, 10), known=frozenset({1}))


def test_every_record_replays_to_its_result():
    for spec in (CONNECT_FOUR, "texas42"):
        match = played(spec, Seeded, Seeded, games=12, seed=3)
        for record in match.records.values():
            final = final_position(match.game, record)
            assert final.over
            assert record.payoff == final.payoff(0)
            assert record.score == (1 + np.sign(record.payoff)) / 2


def test_two_players_without_chance_do_not_repeat_a_game():
    match = played(CONNECT_FOUR, Lowest, Lowest, games=100)
    # only the two games of a pair are alike here, as both sides are the same player
    assert len({record.actions for record in match.records.values()}) == 50


def test_teams_swap_in_a_game_of_four_seats():
    match = played("texas42", Keeper, Lowest, games=4, seed=1)
    deals = [match.records[number].start for number in range(4)]
    assert deals[0] == deals[1] != deals[2] == deals[3]
    for number, record in match.records.items():
        assert record.players[number % 2] == "keeper"


def test_scores_are_counted_for_the_right_player():
    """Every game of `failing` is lost, whatever its seat."""
    match = played(CONNECT_FOUR, lambda: Failing(give_up), Seeded, games=20, opening="random:6")
    assert match.score.losses == 20
    other = played(CONNECT_FOUR, Seeded, lambda: Failing(give_up), games=20, opening="random:6")
    assert other.score.wins == 20


# ---- the same for the same seed ------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"threads": 3}, {"threads": 8}])
def test_a_match_does_not_depend_on_how_many_threads_play_it(settings):
    plain = essence(played(CONNECT_FOUR, Seeded, Lowest, games=24, seed=9))
    assert essence(played(CONNECT_FOUR, Seeded, Lowest, games=24, seed=9, **settings)) == plain
    assert essence(played(CONNECT_FOUR, Seeded, Lowest, games=24, seed=10, **settings)) != plain


@pytest.mark.parametrize("at_once", [1, 5, 64])
def test_a_match_does_not_depend_on_how_many_games_are_chosen_together(at_once):
    apart = [replace(r, players=("", "")) for r in essence(played(SMALL, Seeded, Seeded, games=24, seed=4))]
    together = played(SMALL, Batched, Batched, games=24, seed=4, at_once=at_once)
    assert [replace(r, players=("", "")) for r in essence(together)] == apart


def test_players_that_choose_together_are_asked_for_all_their_games():
    made = []

    def make():
        made.append(Batched())
        return made[-1]

    played(SMALL, make, make, games=20, at_once=10)
    assert len(made) == 2
    assert max(made[0].asked) >= 5
    assert max(made[1].asked) >= 5


def test_one_side_may_choose_together_while_the_other_plays_on_threads():
    plain = [replace(r, players=("", "")) for r in essence(played(SMALL, Seeded, Seeded, games=16, seed=4))]
    mixed = played(SMALL, Batched, Crowded, games=16, seed=4, threads=4)
    assert [replace(r, players=("", "")) for r in essence(mixed)] == plain


def test_a_side_that_plays_on_threads_has_a_player_for_each_and_no_more():
    made = []

    def maker():
        made.append(Seeded())
        return made[-1]

    played(SMALL, Batched, maker, games=20, threads=3, at_once=10)
    assert len(made) == 3


def test_a_player_is_used_by_one_thread_at_a_time():
    match = played(SMALL, Crowded, Crowded, games=20, threads=4)
    assert set(match.reasons) == {"end by the rules"}


def test_a_test_stops_after_the_same_pair_however_many_games_are_under_way():
    def run(threads):
        return played(SMALL, Seeded, lambda: Failing(give_up), games=400, seed=1, threads=threads, sprt=Sprt(0, 200))

    one, many = run(1), run(4)
    assert one.verdict == many.verdict == "H1"
    assert one.score.pairs == many.score.pairs
    assert 2 < len(one.score.pairs) < 100
    assert len(many.counted) == len(one.counted) == 2 * len(one.score.pairs)


# ---- what players are handed ---------------------------------------------------------------------


def test_a_player_is_told_start_moves_and_a_seed_of_its_own():
    keeper = Keeper()
    match = played(CONNECT_FOUR, lambda: keeper, Lowest, games=4, seed=3)
    seeds = set()
    for turn in keeper.turns:
        replayed = turn.start.copy()
        for action in turn.moves:
            replayed.play(action)
        assert replayed.text() == turn.position.text()
        assert turn.clock is turn.seconds is None
        seeds.add(turn.seed)
    assert len(seeds) == len(keeper.turns)
    assert [seat for _, seat in keeper.begun] == [0, 1, 0, 1]
    assert keeper.closed == 1
    assert len(match.records) == 4


def test_what_a_player_does_to_a_position_changes_nothing():
    class Vandal(Seeded):
        name = "vandal"

        def choose(self, turn):
            choice = super().choose(turn)
            turn.position.play(choice.action)
            turn.start.states[:] = 0
            return choice

    plain = essence(played(CONNECT_FOUR, Seeded, Seeded, seed=5))
    assert [r.actions for r in essence(played(CONNECT_FOUR, Vandal, Vandal, seed=5))] == [r.actions for r in plain]


def handed(text, player):
    """What a player is handed in a game from a position of Texas 42 whose hidden tiles may differ."""
    from rookery.arena.openings import Opening
    from rookery.arena.running import Plan, RunningGame
    from rookery.search.threads import new_stop

    opening = Opening(load("texas42").position(text))
    running = RunningGame(Plan(0, opening, (0, 1)), (player, player), 7, new_stop())
    running.begin()
    turn = running.turn()
    return (
        turn.position.states.tobytes(), turn.start.states.tobytes(), turn.moves, turn.seed, turn.clock,
        [start.states.tobytes() for start, seat in player.begun if seat == running.mover],
    )  # fmt: skip


def permuted(position, seat, rng):
    """The same position with the tiles that `seat` cannot see dealt anew among those who could hold them."""
    declaration, opener, hands, plays = position.text().split()
    dealt = [hand.split(",") for hand in hands.split("/")]
    shown = set(plays.split(","))
    hidden = [tile for i, hand in enumerate(dealt) if i != seat for tile in hand if tile not in shown]
    while True:
        order = iter(rng.permutation(hidden).tolist())
        new = [hand if i == seat else [t if t in shown else next(order) for t in hand] for i, hand in enumerate(dealt)]
        try:
            return position.game.position(f"{declaration} {opener} {'/'.join(','.join(h) for h in new)} {plays}")
        except BadInput:  # a hand that should have followed suit
            continue


def test_hidden_hands_do_not_change_what_a_player_is_handed():
    rng = np.random.default_rng(1)
    game = load("texas42")
    changed = 0
    for seed in range(6):
        position = game.start(seed)
        for _ in range(int(rng.integers(0, 14))):
            position.play(int(rng.choice(position.legal())))
        other = permuted(position, position.mover, rng)
        changed += other.text() != position.text()
        assert handed(position.text(), Keeper()) == handed(other.text(), Keeper())
        assert handed(position.text(), Oracle())[0] == position.states.tobytes()
    assert changed == 6


def test_moves_of_hidden_hands_are_not_told_by_their_numbers():
    """The slot a tile was played from says how many tiles below it a hand holds."""
    keeper = Keeper()
    played("texas42", lambda: keeper, Seeded, games=2)
    assert len(keeper.turns) == 28
    for turn in keeper.turns:
        assert turn.moves == ()
        assert turn.start.text() == turn.position.text()
        assert turn.position.text().split()[2].count("?") == 3


def test_an_oracle_sees_all_and_is_told_the_moves():
    oracle = Oracle()
    played("texas42", lambda: oracle, Seeded, games=2)
    assert all("?" not in turn.position.text() for turn in oracle.turns)
    for turn in oracle.turns:
        replayed = turn.start.copy()
        for action in turn.moves:
            replayed.play(action)
        assert replayed.text() == turn.position.text()
    assert max(len(turn.moves) for turn in oracle.turns) > 20


# ---- players that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize("how", FAILURES, ids=lambda how: how.__name__)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_player_that_fails_loses_that_game_with_the_reason_and_the_match_goes_on(how, threads):
    match = played("domineering:rows=6,cols=6", lambda: Failing(how), Seeded, opening="random:4", threads=threads)
    assert len(match.records) == 8
    assert match.score.losses == 8
    assert all(reason.startswith(FAILURES[how]) for reason in match.reasons)
    assert all(record.payoff == 2 * record.score - 1 for record in match.records.values())


def test_only_the_game_that_fails_is_lost_when_many_are_chosen_together():
    class FailsOnce(Batched):
        name = "fails once"

        def choose(self, turn):
            if turn.moves[0] % 2 and len(turn.moves) > 3:
                raise PlayerFailed("no idea")
            return super().choose(turn)

    match = played(CONNECT_FOUR, FailsOnce, Batched, games=30, opening="random:3")
    assert {record.actions[0] % 2 for record in match.records.values()} == {0, 1}
    for record in match.records.values():
        assert (record.reason == "fails once: no idea") == (record.actions[0] % 2 == 1)


def test_too_few_choices_are_asked_for_again_one_by_one():
    class Short(Batched):
        name = "short"

        def choose_many(self, turns):
            return super().choose_many(turns)[:-1]

    assert set(played(SMALL, Short, Batched, games=6).reasons) == {"end by the rules"}


def test_a_player_that_cannot_begin_loses():
    class Dead(Seeded):
        name = "dead"

        def new_game(self, start, seat):
            raise PlayerFailed("no such program")

    match = played(SMALL, Dead, Seeded, games=4)
    assert match.score.losses == 4
    assert dict(match.reasons) == {"dead: no such program": 4}


def refuse(turn):
    raise BadInput("I cannot search this position")


def refuse_to_begin(start, seat):
    raise BadInput("no option 'Hash'")


@pytest.mark.parametrize("kind", [Seeded, Batched])
@pytest.mark.parametrize(("what", "how"), [("choose", refuse), ("new_game", refuse_to_begin)])
def test_what_a_person_can_mend_is_no_loss_but_ends_the_match(kind, what, how):
    def refusing():
        player = kind()
        setattr(player, what, how)
        return player

    with pytest.raises(BadInput, match=f"player '{kind.name}': (I cannot search|no option 'Hash')"):
        played(SMALL, refusing, Lowest, games=4)


@pytest.mark.parametrize("threads", [1, 3])
def test_games_that_ended_before_an_error_are_reported(threads):
    asked, told = itertools.count(), []

    def late(turn):
        return Seeded().choose(turn) if next(asked) < 60 else refuse(turn)

    settings = MatchSettings(games=100, threads=threads)
    with pytest.raises(BadInput, match="I cannot search"):
        play_match(load(SMALL), lambda: chooser(late), Seeded, settings, lambda match, record: told.append(record))
    assert len(told) >= 60 // 8 - threads  # a player of this board makes at most eight moves a game
    assert len({record.number for record in told}) == len(told)


def chooser(how):
    """Make a player that chooses by a function."""
    player = Seeded()
    player.choose = how
    return player


def test_a_person_plays_one_game_at_a_time():
    under_way, most = [0], [0]

    class Person(Seeded):
        name = "person"
        at_terminal = True

        def choose(self, turn):
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
            time.sleep(0.002)
            under_way[0] -= 1
            return super().choose(turn)

    assert len(played(SMALL, Person, Batched, games=4, threads=4).records) == 4
    assert len(played(SMALL, Seeded, Person, games=4, threads=4).records) == 4
    assert most == [1]


def test_a_player_that_ends_its_thread_ends_the_match_with_an_error():
    class Quitter(Seeded):
        name = "quitter"

        def choose(self, turn):
            raise SystemExit(3)

    with pytest.raises(SystemExit):
        played(SMALL, Quitter, Seeded, games=4)


def test_players_are_closed_even_if_one_cannot_be_made():
    keeper = Keeper()

    def fail():
        raise BadInput("no such player")

    with pytest.raises(BadInput, match="no such player"):
        played(SMALL, lambda: keeper, fail)
    assert keeper.closed == 1


def test_a_long_reason_is_cut_to_one_line():
    def talk(turn):
        raise PlayerFailed("a\nb " + "x" * 10_000)

    match = played(CONNECT_FOUR, lambda: Failing(talk), Seeded, games=2)
    assert all("\n" not in reason and len(reason) <= 300 for reason in match.reasons)


def test_a_limit_of_plies_makes_a_draw():
    match = played(CONNECT_FOUR, Seeded, Seeded, games=4, most_plies=7, opening="random:2")
    assert dict(match.reasons) == {"limit of 7 plies": 4}
    assert match.score.draws == 4
    assert all(len(record.actions) == 7 for record in match.records.values())


@pytest.mark.parametrize("plies", [1, 2])
def test_a_limit_of_plies_that_leaves_nothing_to_play_is_refused(plies):
    with pytest.raises(BadInput, match=f"it is {plies}, and an opening of 'random:2' has 2 moves"):
        played(CONNECT_FOUR, Seeded, Seeded, games=4, most_plies=plies, opening="random:2")


def test_a_longer_opening_that_leaves_nothing_to_play_ends_the_match(tmp_path):
    (tmp_path / "openings").write_text("4 4\n4 4 4 4\n")
    with pytest.raises(BadInput, match=r"it is 4, and an opening of .* has 4 moves"):
        played(CONNECT_FOUR, Seeded, Seeded, games=4, most_plies=4, opening=str(tmp_path / "openings"))


# ---- time ----------------------------------------------------------------------------------------


def test_time_controls_are_read_and_written():
    assert parse_time_control("10+0.1") == TimeControl(10, 0.1)
    assert parse_time_control("60") == TimeControl(60, 0)
    assert str(TimeControl(10, 0.1)) == "10+0.1"
    for wrong in ("", "0+1", "-1+0", "10+", "ten", "10+0.1+2", "1e9", "inf"):
        with pytest.raises(BadInput, match="should read SECONDS"):
            parse_time_control(wrong)


def test_clocks_run_down_forgive_a_little_and_fall():
    control = TimeControl(10, 0.5)
    assert control.after_move(3.0, 1.0) == 2.5
    assert control.after_move(1.0, 1.0 + MARGIN / 2) == 0.5
    assert control.after_move(1.0, 1.1 + MARGIN) is None


def test_a_flag_that_falls_loses_with_the_reason():
    match = played(
        SMALL, lambda: Slow(MARGIN + 0.05), Lowest, games=2, time_control=TimeControl(0.02), opening="random:1"
    )
    assert match.score.losses == 2
    assert all(reason.startswith("slow: lost on time: ") for reason in match.reasons)
    assert {record.time_control for record in match.records.values()} == {"0.02+0"}


def test_clocks_count_a_players_own_time_only():
    slow, quick = Slow(0.05), Slow(0.0)
    match = played(SMALL, lambda: slow, lambda: quick, games=2, time_control=TimeControl(30, 1), opening="random:1")
    assert set(match.reasons) == {"end by the rules"}
    clock, increment, seconds = quick.clocks[1]
    assert increment == 1
    assert 30 < max(clock) <= 31  # its own clock has gained, not lost
    assert seconds is None  # a player shares out its clock for itself


def test_every_seat_has_a_clock():
    keeper = Keeper()
    played("texas42", lambda: keeper, Seeded, games=2, time_control=TimeControl(60))
    assert {len(turn.clock) for turn in keeper.turns} == {4}
    assert {turn.position.mover for turn in keeper.turns} == {0, 1, 2, 3}


def test_time_is_told_a_move_and_for_the_right_player():
    even = stored.record(0, seconds=(3.0, 8.0), moves=("a",) * 5, actions=(0,) * 5, opening=1)
    odd = stored.record(1, seconds=(10.0, 5.0), moves=("a",) * 7, actions=(0,) * 7, opening=3)
    match = Match(load(SMALL), ("A", "B"), MatchSettings(games=2), "random:1")
    for one in (even, odd):
        match.add(one)
    assert [match.seconds_a_move(side) for side in (0, 1)] == [(3 + 5) / 4, (8 + 10) / 4]


def test_time_spent_on_many_games_is_shared_among_them():
    class Unhurried(Batched):
        name = "unhurried"

        def choose_many(self, turns):
            time.sleep(0.02)
            return super().choose_many(turns)

    begun = time.perf_counter()
    match = played(SMALL, Unhurried, Batched, games=20)
    spent = time.perf_counter() - begun
    assert 0.02 < sum(sum(record.seconds) for record in match.records.values()) < spent


def test_players_that_choose_together_are_asked_one_by_one_under_a_clock():
    batched = Batched()
    match = played(SMALL, lambda: batched, Seeded, games=4, time_control=TimeControl(60))
    assert batched.asked == []
    assert len(match.records) == 4


# ---- interrupts and reports ----------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 4])
def test_an_interrupt_keeps_what_is_finished(threads):
    told = []

    def finished(match, record):
        told.append(record.number)
        if len(told) == 5:
            raise KeyboardInterrupt

    settings = MatchSettings(games=2000, threads=threads)
    match = play_match(load(SMALL), Seeded, Seeded, settings, finished)
    assert match.interrupted
    assert 5 <= len(match.records) < 2000
    assert sorted(set(told)) == sorted(match.records)  # all were reported, the fifth twice
    assert threading.active_count() < 4
    assert len(match.score.pairs) <= len(match.records) // 2


def test_an_interrupt_stops_players_that_think():
    begun, told = time.monotonic(), []

    def finished(match, record):
        told.append(record)
        if len(told) == 1:
            raise KeyboardInterrupt

    def make():
        return Slow(3.0 if made.pop() else 0.0)

    made = [False, False, True, True]  # of two workers, one thinks for long
    match = play_match(load(SMALL), make, make, MatchSettings(games=20, threads=2), finished)
    assert match.interrupted
    assert time.monotonic() - begun < 60


def test_an_answer_given_because_of_the_stop_is_no_move():
    thinking = threading.Event()

    class Startled(Slow):
        name = "startled"

        def choose(self, turn):
            if self.seconds:
                thinking.set()
            super().choose(turn)
            return None if turn.stop[0] else Seeded.choose(self, turn)

    def finished(match, record):
        if not match.interrupted:
            assert thinking.wait(30)
            match.interrupted = True
            raise KeyboardInterrupt

    made = [0.0, 0.0, 60.0, 60.0]
    makers = [lambda: Startled(made.pop(1)), lambda: Startled(made.pop(0))]
    match = play_match(load(SMALL), *makers, MatchSettings(games=50, threads=2), finished)
    assert match.records
    assert {record.reason for record in match.records.values()} == {"end by the rules"}


def test_pairs_after_the_verdict_do_not_count_in_whatever_order_games_end():
    plain = played(SMALL, Seeded, lambda: Failing(give_up), games=200, seed=1)
    settings = MatchSettings(games=200, seed=1, sprt=Sprt(0, 200))
    results = []
    for order in (range(200), reversed(range(200)), np.random.default_rng(1).permutation(200).tolist()):
        match = Match(plain.game, plain.names, settings, plain.openings)
        for number in order:
            match.add(plain.records[number])
        results.append((match.verdict, match.score.pairs, len(match.counted)))
    assert results[0] == results[1] == results[2]
    assert results[0][0] == "H1"
    assert results[0][2] < 100


def test_a_report_that_fails_ends_the_match():
    def finished(match, record):
        raise BadInput("the disk is full")

    with pytest.raises(BadInput, match="the disk is full"):
        play_match(load(SMALL), Seeded, Seeded, MatchSettings(games=20), finished)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"games": 7}, "games must be an even number"),
        ({"games": 0}, "games must be a whole number in"),
        ({"threads": 0}, "threads must be"),
        ({"at_once": 0}, "games at once"),
        ({"most_plies": 0}, "limit of plies"),
        ({"seed": 2**70}, "seed"),
    ],
)
def test_impossible_settings_are_refused(settings, complaint):
    with pytest.raises(BadInput, match=complaint):
        MatchSettings(**settings)


def test_a_wrong_file_of_openings_is_told_before_anything_is_made():
    def make():
        raise AssertionError("made")

    with pytest.raises(BadInput, match="neither random"):
        played(SMALL, make, make, opening="/no/such/file")
