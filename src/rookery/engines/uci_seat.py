"""Who sits behind the UCI engine: whoever the options name, and whoever sat there before where that cannot be."""

from __future__ import annotations

from collections.abc import Callable

from rookery.engines.uci_options import DOUBTFUL, Options
from rookery.engines.uci_thinkers import NetworkThinker, PlayerThinker, Thinker
from rookery.lc0.positions import chess_game

USUAL_PLAYER = "alphabeta"
"""who plays where no network is named"""
AUTODISCOVER = "<autodiscover>"


class Seat:
    """The place of a thinker, who is made when he is needed, and anew when the options have changed."""

    def __init__(
        self, options: Options, player: str, remark: Callable[[str], None], complain: Callable[[Exception], None]
    ):
        """Make an empty seat; `remark` and `complain` tell people what happens."""
        self.options, self.player, self.remark, self.complain = options, player, remark, complain
        self.thinker: Thinker | None = None
        self.made_of: tuple[str, ...] = ()
        self.stale = True
        """whether options have changed since the thinker was made"""

    def taken(self) -> Thinker:
        """Return who thinks, ready to do so. Nobody may be thinking."""
        if self.stale or self.thinker is None:
            self.renew_what_can_be()
            self.stale = False
            self.options.hold()
        assert self.thinker is not None
        return self.thinker

    def renew_what_can_be(self) -> None:
        """Make the thinker that the options want; those that want what cannot be are told of and taken back.

        Whatever goes wrong, who sat there before goes on; only if nobody did, there is an error.
        """
        groups = iter(DOUBTFUL)
        while True:
            try:
                self.renew()
                return
            except Exception as error:  # a foreign file may fail in any way, and a game should not be lost by it
                changed = any(self.options.take_back(names) for names in groups)
                if not changed and self.thinker is None:
                    raise
                self.complain(error)
                if not changed:
                    return

    def renew(self) -> None:
        """Make the thinker that the options want; the one before stays where that fails."""
        path = self.options.values["WeightsFile"]
        network = path if path not in ("", AUTODISCOVER) else ""
        chess960 = self.options.values["UCI_Chess960"]
        wanted = ("network", network) if network else ("player", self.player or USUAL_PLAYER, chess960)
        if isinstance(self.thinker, NetworkThinker) and wanted == self.made_of:
            self.thinker.renew()
            return
        made: Thinker
        if network:
            made = NetworkThinker(network, self.options)
        else:
            if not self.player:
                self.remark(f"no network is named by WeightsFile or --network; {USUAL_PLAYER} plays")
            made = PlayerThinker(wanted[1], chess_game(chess960 == "true"))
        made.prepare()
        if self.thinker is not None:
            self.thinker.close()
        self.thinker, self.made_of = made, wanted
