"""The page of the arena: a match, a round robin and the ledger's ratings, each in a tab.

A timer of the page reads the contests and so renews their leases: without a page nothing is played.
"""

from __future__ import annotations

from typing import Any

from nicegui import background_tasks, run, ui

from rookery.arena.ratings import Ratings
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.library import load
from rookery.web.arena_parts import ContestPart, CrossPart
from rookery.web.charts import ratings_options
from rookery.web.contests import MOST_GAMES, MOST_PLAYERS, OPENINGS, Contest, Order
from rookery.web.frame import plain_button, style
from rookery.web.games import OFFERS
from rookery.web.site import Site, new_seed
from rookery.web.standings import choices_of, ledger_ratings

TICK = 0.2  # seconds
MATCH, ROBIN = "match", "robin"
RATINGS_SHOWN = 40
ROW = 30  # pixels of a line of the plot of ratings


class ArenaPage:
    """One page of one visitor."""

    def __init__(self, site: Site, visitor: str):
        self.site, self.visitor = site, visitor
        self.variants = {
            f"{offer.title}, {name}": spec for offer in OFFERS.values() for name, spec in offer.variants.items()
        }
        self.players: dict[str, str] = {}
        self.build()
        self.show_players()
        background_tasks.create(self.fill_players())
        ui.timer(TICK, self.tick)

    @property
    def spec(self) -> str:
        """The variant that is chosen."""
        return self.variants.get(str(self.variant.value)) or next(iter(self.variants.values()))

    @property
    def game(self) -> Game:
        """The game that is chosen."""
        return load(self.spec)

    # -- building --

    def build(self) -> None:
        """Make the elements."""
        ui.add_css(style("work.css"))
        with ui.element("main").classes("column arena"):
            with ui.element("div").classes("choices-row"):
                names = list(self.variants)
                self.variant = ui.select(names, value=names[0], on_change=self.other_game).mark("variant")
                self.variant.props('dense outlined options-dense aria-label="Game"')
                with ui.tabs(on_change=self.show_ratings).props("dense no-caps align=left") as self.tabs:
                    for name in ("Match", "Round robin", "Ratings"):
                        ui.tab(name)
            with ui.tab_panels(self.tabs, value="Match").props("keep-alive").classes("panels"):
                with ui.tab_panel("Match"):
                    self.build_match()
                with ui.tab_panel("Round robin"):
                    self.build_robin()
                with ui.tab_panel("Ratings"):
                    self.build_ratings()

    def build_match(self) -> None:
        """Make the tab of a match."""
        with ui.element("div").classes("contest"):
            with ui.element("section").classes("card column"):
                self.first, self.second = player_select("First player"), player_select("Second player")
                self.numbers = NumberFields(10)
                self.keep = ui.checkbox("keep the games in the ledger").props("dense").mark("keep")
                plain_button("Start", self.start_match, "start-match")
                self.match_trouble = ui.label().classes("bad").mark("match-trouble")
            self.match = ContestPart()
        self.match.show(self.site.contests.find(self.visitor, MATCH))

    def build_robin(self) -> None:
        """Make the tab of a round robin."""
        with ui.element("div").classes("contest"):
            with ui.element("section").classes("card column"):
                self.several = ui.select([], multiple=True, label=f"Players, 2 to {MOST_PLAYERS}").mark("several")
                self.several.props('dense outlined options-dense use-chips aria-label="Players"')
                self.robin_numbers = NumberFields(4)
                self.robin_keep = ui.checkbox("keep the games in the ledger").props("dense")
                plain_button("Start", self.start_robin, "start-robin")
                self.robin_trouble = ui.label().classes("bad").mark("robin-trouble")
            with ui.element("div").classes("column"):
                self.cross = CrossPart()
                self.robin = ContestPart()
        self.robin.show(self.site.contests.find(self.visitor, ROBIN))

    def build_ratings(self) -> None:
        """Make the tab of ratings."""
        with ui.element("section").classes("card column ratings"):
            self.ratings_told = ui.label().classes("small").mark("ratings-told")
            self.ratings_chart = ui.echart(ratings_options([], []), renderer="svg").style("width: 100%")
            columns = [("player", "player"), ("elo", "Elo"), ("interval", "95 % interval"), ("games", "games"),
                       ("score", "points a game"), ("note", "")]  # fmt: skip
            self.ratings_table = ui.table(
                rows=[], row_key="player", pagination=20,
                columns=[{"name": name, "label": label, "field": name, "align": "left"} for name, label in columns],
            ).props("flat dense").mark("ratings")  # fmt: skip

    # -- players --

    async def fill_players(self) -> None:
        """Offer networks, too, when they have been looked for."""
        spec = self.spec
        await run.io_bound(self.site.look_for_opponents, self.game)
        if spec == self.spec:
            self.show_players()

    def show_players(self) -> None:
        """Offer who can play the game; what is chosen stays if it can."""
        self.players = choices_of(self.site.opponents(self.game))
        names = list(self.players)
        usual = [next((name for name in names if "greedy" in self.players[name]), names[0]), names[-1]]
        for field, first in zip((self.first, self.second), usual, strict=True):
            field.set_options(names, value=field.value if field.value in names else first)
        chosen = [name for name in self.several.value or () if name in names]
        self.several.set_options(names, value=chosen)

    async def other_game(self) -> None:
        """Turn to another game."""
        self.show_players()
        await self.show_ratings()
        await self.fill_players()

    # -- contests --

    def tick(self) -> None:
        """Read the contests, and show what has changed."""
        contests = self.site.contests
        self.match.show(contests.find(self.visitor, MATCH))
        robin = contests.find(self.visitor, ROBIN)
        self.robin.show(robin)
        self.cross.show(robin)

    def start_match(self) -> None:
        """Begin a match."""
        names = [str(self.first.value), str(self.second.value)]
        self.begin(MATCH, names, self.numbers, bool(self.keep.value), self.match_trouble)

    def start_robin(self) -> None:
        """Begin a round robin."""
        names = [str(name) for name in self.several.value or ()]
        self.begin(ROBIN, names, self.robin_numbers, bool(self.robin_keep.value), self.robin_trouble)

    def begin(
        self, kind: str, names: list[str], numbers: NumberFields, keep: bool, trouble: ui.label
    ) -> Contest | None:
        """Begin a contest of players that are in the list; say what is wrong otherwise."""
        try:
            unknown = [name for name in names if name not in self.players]
            if unknown:
                raise BadInput(f"{unknown[0]!r} does not play this game; choose from the list")
            texts = tuple(self.players[name] for name in names)
            order = Order(self.spec, texts, numbers.whole_games(), new_seed(), keep, tuple(names), *numbers.rest())
            contest = self.site.contests.start(self.visitor, kind, order)
        except (BadInput, OverflowError) as error:
            trouble.text = str(error)
            return None
        trouble.text = ""
        part = self.match if kind == MATCH else self.robin
        part.begin(contest)
        return contest

    # -- ratings --

    async def show_ratings(self) -> None:
        """Show the ratings by the ledger's games."""
        if self.tabs.value != "Ratings":
            return
        spec = self.spec
        found = await run.io_bound(ledger_ratings, self.game, self.site.ledger)
        if spec == self.spec:
            self.draw_ratings(found)

    def draw_ratings(self, found: Ratings | None) -> None:
        """Draw ratings, the best first."""
        rated = found.ratings[:RATINGS_SHOWN] if found else []
        self.ratings_table.rows = [
            {
                "player": rating.player, "elo": f"{rating.elo:.0f}", "games": rating.games, "note": rating.note,
                "interval": " to ".join(f"{end:.0f}" for end in rating.interval) if rating.error else "fixed",
                "score": f"{rating.score:.2f}",
            }
            for rating in (found.ratings if found else ())
        ]  # fmt: skip
        self.ratings_chart.options.clear()
        self.ratings_chart.options.update(ratings_options(rated, [rating.player for rating in rated]))
        self.ratings_chart.style(f"height: {70 + ROW * len(rated)}px")
        self.ratings_chart.set_visibility(bool(rated))
        self.ratings_table.set_visibility(bool(rated))
        self.ratings_chart.update()
        empty = "The ledger has no games of this kind. Play a match and keep its games, or use `rookery match`."
        told = f"{found.games:,} games. Dots are ratings, bars 95 % intervals; hollow dots are fixed." if found else ""
        free = " Groups that never met cannot be compared." if found and len(found.free_groups) > 1 else ""
        self.ratings_told.text = told + free if found else empty


def player_select(label: str) -> ui.select:
    """Make a list of players."""
    made = ui.select([], label=label, with_input=True)
    return made.props(f'dense outlined options-dense aria-label="{label}"')


class NumberFields:
    """Asks how many games are played, how many side by side, and how they begin."""

    def __init__(self, usual: int):
        self.games = ui.number("Games (even)", value=usual, min=2, max=MOST_GAMES, step=2, precision=0)
        self.games.props("dense outlined")
        with ui.element("div").classes("pair"):
            self.boards = ui.select({1: "1 at a time", 4: "4 at a time", 9: "9 at a time"}, value=4, label="Boards")
            self.opening = ui.select(OPENINGS, value="", label="Openings")
        for field, name in ((self.boards, "Boards"), (self.opening, "Openings")):
            field.props(f'dense outlined options-dense aria-label="{name}"')

    def whole_games(self) -> Any:
        """Return the number of games as a whole number, if it is one."""
        games = self.games.value
        return int(games) if isinstance(games, int | float) and games == int(games) else games

    def rest(self) -> tuple[Any, Any]:
        """Return the number of boards, and the opening."""
        return self.boards.value, self.opening.value
