"""A visitor's game in the ledger, in the ledger's own form: only when the visitor asks for it. Plain Python.

The visitor is the player `human`, as at a terminal. Who keeps a game twice has it once.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from rookery.arena.ledger import Ledger
from rookery.arena.records import GameRecord
from rookery.arena.running import ending
from rookery.errors import BadInput
from rookery.web.session import GameSession

PERSON = "human"


def record_of(session: GameSession, key: str) -> GameRecord:
    """Return the record of a finished game; `key` is what only this game has. BadInput says why there is none."""
    score, players = session.score(), players_of(session)
    if score is None:
        raise BadInput("a game is kept in the ledger when it is over")
    if players[0] == players[1]:
        raise BadInput("the ledger is for games of two different players: this one has the same on both sides")
    game, start = session.game, session.positions[0]
    payoff = 2 * score - 1 if session.resigned is not None else session.position.payoff(game.teams.index(0))
    name = hashlib.sha256(f"{key} {session.actions}".encode()).hexdigest()[:32]
    seconds = [sum(session.seconds[seat] for seat in range(game.seats) if game.teams[seat] == team) for team in (0, 1)]
    return GameRecord(
        game=game.spec, version=game.version, start=start.text(), actions=tuple(session.actions),
        moves=tuple(session.positions[ply].move_text(action) for ply, action in enumerate(session.actions)), opening=0,
        players=players, first_team=game.teams[game.start().mover], score=score, payoff=float(payoff),
        reason=session.result() if session.resigned is not None else ending(session.position),
        seconds=(seconds[0], seconds[1]), seed=session.plan.seed, match=name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip


def players_of(session: GameSession) -> tuple[str, str]:
    """Return the texts of the players of team 0 and team 1."""
    plan, teams, found = session.plan, session.game.teams, []
    for team in (0, 1):
        seats = [seat for seat in range(session.game.seats) if teams[seat] == team]
        held = sum(seat in plan.people for seat in seats)
        found.append(PERSON if held == len(seats) else f"{PERSON} and {plan.opponent}" if held else plan.opponent)
    return found[0], found[1]


def keep(path: Path | None, record: GameRecord) -> int:
    """Store a game, unless it is there already; return its number in the ledger."""
    with Ledger(path) as ledger:
        ledger.store([record])
        number = ledger.number_of(record.match, record.number)
    assert number is not None, "what was stored is there"
    return number
