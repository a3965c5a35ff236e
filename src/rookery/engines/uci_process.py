"""The UCI engine as a process: lines from standard input, answers on standard output."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable

from rookery.engines.pipes import heard, leave, tell
from rookery.engines.uci import Running, UciEngine
from rookery.engines.uci_options import Options
from rookery.engines.uci_thinkers import PlayerThinker
from rookery.errors import BadInput
from rookery.lc0.positions import chess_game
from rookery.nets.lc0.named import check_named

LONGEST_LINE = 1 << 16
QUIT_WITHIN = 0.5  # seconds to obey what was said before `quit`
END_WITHIN = 120.0  # seconds to obey what was said before the input ended: a network may have to be loaded first


def serve(
    lines: Iterable[str], say: Callable[[str], None], leave: Callable[[], None], network: str = "", player: str = "",
    seed: int = 0, options: Iterable[tuple[str, str]] = (),
) -> None:  # fmt: skip
    """Read lines and obey them until `quit` or the end of the input; then a search is ended, at once."""
    events: queue.Queue[str | Running | None] = queue.Queue()
    engine = UciEngine(say, network, player, seed, events.put)
    for name, value in options:
        engine.set(name, value)

    def read() -> None:
        within = END_WITHIN
        for line in lines:
            if line.split()[:1] == ["quit"]:
                within = QUIT_WITHIN
                break
            events.put(line)
        events.put(None)
        time.sleep(within)
        leave()  # the main thread is busy, with a network to load or code to compile

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            event = events.get(timeout=engine.patience())
        except queue.Empty:
            engine.tick()
            continue
        if event is None:
            break
        try:
            if isinstance(event, Running):
                engine.finished(event)
            else:
                engine.line(event)
        except Exception as error:  # a fault of ours; a game should not be lost by it
            engine.complain(error)
    engine.halt()
    leave()


def run(network: str = "", player: str = "", seed: int = 0, options: Iterable[str] = ()) -> None:
    """Be an engine on standard input and output."""
    pairs = [text.partition("=")[::2] for text in options]
    for name, value in pairs:
        Options().set(name, value)  # what means nothing is refused before a manager waits
    if network and player:
        raise BadInput(f"either a network or a player plays, not both {network!r} and {player!r}")
    if network:
        check_named(network)
    if player:
        PlayerThinker(player, chess_game()).close()
    sys.setswitchinterval(0.001)  # seconds after which a thread that thinks lets the others in
    serve(heard(LONGEST_LINE), tell, leave, network, player, seed, pairs)
