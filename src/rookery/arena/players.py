"""Players by their text: one form for the command line, configurations and pages.

    make_player("alphabeta:depth=4", load("chess"))

`KINDS` lists what there is. A player without limits of its own (`alphabeta`, `uci:stockfish`) takes the time it is
given, by a clock or for the move; where it is given none, the kind's usual limits hold.
"""

from __future__ import annotations

from dataclasses import Field, fields, replace
from typing import Any

from rookery.arena.engine import EnginePlayer, EngineSettings
from rookery.arena.human import HumanPlayer
from rookery.arena.kinds import Kind, check_fit
from rookery.arena.player import Choice, Player, Turn
from rookery.arena.searching import GreedyPlayer, SearchPlayer
from rookery.arena.texts import Form, Given, Option, read_text
from rookery.errors import BadInput
from rookery.games.game import Game
from rookery.games.position import Position
from rookery.games.rng import random_below
from rookery.search.analysis import Limits
from rookery.search.lc0_settings import Lc0Settings
from rookery.search.tree_settings import TreeSettings

DEPTH = Option("depth", int, 1, 400, "plies to look ahead")
ADVANCED_DEPTH = Option("depth", int, 1, 60, "plies to look ahead, fours excepted")
BASELINE_DEPTH = Option("depth", int, 1, 30, "plies to look ahead, always", 4)
NODES = Option("nodes", int, 1, 10**15, "positions to look at")
SIMS = Option("sims", int, 1, 1 << 30, "simulations a move")
TIME = Option("time", float, 0.001, 86_400, "seconds a move")
EXPLORATION = Option("c", float, 0, 1_000_000, "weight of the priors")
EQUIVALENCE = Option("k", float, 0.001, 1e12, "simulations at which a node trusts both kinds of means alike")
PROGRESSIVE = Option(
    "progressive", bool, 0, 0, "look 1 ply ahead from 90 legal moves on, 2 from 35 on, 3 below, and no further", False
)
GRACE = Option("grace", float, 0.05, 3600, "seconds an engine may be late before it counts as hung", 5)
START = Option("start", float, 0.1, 3600, "seconds an engine may take to get ready", 30)
CACHE = Option("cache", int, 0, 1 << 24, "judgements kept for positions that are met again", 0)
WORLDS = Option("worlds", int, 1, 1_000_000, "deals to look at, of those the seat thinks possible", 100)
DEALS = Option("worlds", int, 1, 100_000, "deals by which a hand is judged before a bid", 40)
THRESHOLD = Option("threshold", float, 0, 1, "share of deals in which a bid must be made", 0.9)
BY = Option(
    "by", str, 0, 0, "who plays these deals out: all hands open, or seeing one", "exact", ("exact", "heuristic")
)
DECLARATIONS = Option("declarations", int, 1, 9, "declarations that are tried, the most promising ones", 3)
CHOICE = Option("choice", str, 0, 0, "play for the most points, or for the bid", "mean", ("mean", "make"))
ORACLE = Option("oracle", str, 0, 0, "what values the plays in each deal", "exact", ("exact",), "a network's file")
LAST = Option("last", int, 0, 28, "plays by which deals are weighed; 0: all deals weigh the same", 0)
TAU = Option("tau", float, 0.01, 1000, "points by which a play is worse that is taken less often by a factor of e", 10)
MIX = Option("mix", float, 0, 1, "share of plays thought to be made blindly", 0.1)
THREADS = Option("threads", int, 1, 1024, "CPU threads; the choice does not depend on them", 1)
MEMORY = Option("memory", int, 0, 1 << 30, "MiB an engine may use; 0: as it likes", 0)
PRECISION = Option(
    "precision",
    str,
    0,
    0,
    "numbers the network computes with: auto takes bf16 on a CUDA card, else 32",
    "auto",
    ("auto", "32", "bf16"),
)
VCF = Option(
    "vcf", str, 0, 0, "in Gomoku, where to look for wins by continuous fours", "none", ("none", "root", "leaves")
)
LIMITS = {"depth": "depth", "nodes": "nodes", "sims": "nodes", "time": "seconds"}  # option -> what it limits
NOT_IN_TEXTS = ("simulations", "seed", "policy", "policy_temperature", "forced", "prune")  # of a tree search
USUAL_TREE = Limits(nodes=400)
OWN_INFOS = ("timeout_turn", "timeout_match", "time_left", "max_memory", "game_type", "rule")


def tree_option(setting: Field[Any]) -> Option:
    """Make an option of a setting of tree search."""
    allowed: dict[str, Any] = {"least": 0, "most": 0, **setting.metadata}
    default: Any = setting.default
    return Option(name=setting.name, default=default, **allowed)


TREE_OPTIONS = tuple(tree_option(setting) for setting in fields(TreeSettings) if setting.name not in NOT_IN_TEXTS)
"""of all kinds that use tree search"""
OF_POLICIES = tuple(tree_option(setting) for setting in fields(TreeSettings) if setting.name == "policy_temperature")
"""of those whose evaluator gives logits"""
LC0_OPTIONS = tuple(tree_option(setting) for setting in fields(Lc0Settings))


class RandomPlayer(Player):
    """A player that takes any legal move."""

    def prepare(self, start: Position) -> None:
        """Compile what draws."""
        random_below(1, 0, 0, 0)

    def choose(self, turn: Turn) -> Choice:
        """Draw a move by the seed."""
        legal = turn.position.legal()
        return Choice(int(legal[random_below(len(legal), turn.seed, 0, 0)]))


# ---- the kinds -----------------------------------------------------------------------------------


def searching(name: str, module: str, options: tuple[Option, ...], example: str, summary: str, **more: Any) -> Kind:
    """Describe a kind of players that search."""
    usual, takes, check = more.pop("usual", Limits()), more.pop("takes", ()), more.pop("check", None)
    settings = more.pop("settings", settings_in)

    def make(given: Given, game: Game) -> Player:
        if check:
            check(given)
        return SearchPlayer(module, limits_in(given), usual, settings(given), takes)

    return Kind(Form(name, options), example, summary, make, looks=True, **more)


def limits_in(given: Given) -> Limits:
    """Read the options that limit a search."""
    names = [option.name for option in given.form.options if option.name in LIMITS]
    limits: dict[str, Any] = {LIMITS[name]: given.value(name) for name in names}
    return Limits(**limits)


def settings_in(given: Given) -> dict[str, Any]:
    """Read the options that set up a search; what is not given is left to the search."""
    apart = (*LIMITS, CACHE.name, PRECISION.name, VCF.name)
    return {name: value for name, value in given.options.items() if name not in apart}


def alphabeta_settings(given: Given) -> dict[str, Any]:
    """Read the options that set up alpha-beta: depths by the number of legal moves are the Domineering study's."""
    if not given.value(PROGRESSIVE.name):
        return {}
    from rookery.search.alphabeta import DOMINEERING_DEPTHS

    return {"progressive": DOMINEERING_DEPTHS}


def check_tree(given: Given) -> None:
    """Refuse options that do not go together in a tree search."""
    made = TreeSettings(**settings_in(given))
    if made.gumbel and given.value("sims") is None:
        raise BadInput("gumbel shares out a known number of simulations: name them too, as in sims=400")


def settle_network(given: Given) -> Given:
    """Name the newest checkpoint instead of the run it lies in, so that the player stays what it is."""
    from rookery.arena.networks import network_name

    return replace(given, command=(network_name(given.command[0]),))


def make_network(given: Given, game: Game) -> Player:
    """Make a player that searches with a network."""
    from rookery.arena.fours_player import FoursPlayer
    from rookery.arena.network_player import NetworkPlayer
    from rookery.arena.networks import network_for

    check_tree(given)
    loaded, limits, settings = network_for(given.command[0], game), limits_in(given), settings_in(given)
    how: dict[str, Any] = {"cache": given.value(CACHE.name) or 0, "precision": given.value(PRECISION.name)}
    where = str(given.value(VCF.name))
    if where == "none":
        return NetworkPlayer(loaded, limits, USUAL_TREE, settings, **how)
    return FoursPlayer(loaded, game, where, limits, USUAL_TREE, settings, **how)


def make_lc0(given: Given, game: Game) -> Player:
    """Make a player that searches as Lc0 does."""
    from rookery.arena.lc0_player import load_player

    Lc0Settings(**settings_in(given))  # refuses what cannot be before a network is read
    return load_player(given.command[0], limits_in(given), settings_in(given))


def make_lookahead(given: Given, game: Game) -> Player:
    """Make a player that asks a network about the positions after its moves."""
    from rookery.arena.lookahead import LookAheadPlayer
    from rookery.arena.networks import network_for

    return LookAheadPlayer(network_for(given.command[0], game))


def make_greedy(given: Given, game: Game) -> Player:
    """Make the player that looks one move ahead."""
    return GreedyPlayer("rookery.search.alphabeta", Limits(depth=1), Limits(), {"random_ties": True}, ("seed",))


def make_expected(given: Given, game: Game) -> Player:
    """Make a player of Texas 42 that averages over the deals it thinks possible."""
    from rookery.arena.texas42_players import ExpectedPlayer
    from rookery.search.posterior import Habits

    of_habits: dict[str, Any] = {option.name: given.value(option.name) for option in (LAST, TAU, MIX)}
    if not of_habits["last"] and (given.options.keys() & {"tau", "mix"}):
        raise BadInput("tau and mix say how deals are weighed by the last plays: name these too, as in last=8")
    settings: dict[str, Any] = {option.name: given.value(option.name) for option in (WORLDS, CHOICE, THREADS)}
    named = str(given.value(ORACLE.name))
    return ExpectedPlayer(
        habits=Habits(**of_habits) if of_habits["last"] else None, oracle=oracle_of(named), **settings
    )


def oracle_of(text: str) -> Any:
    """Make the oracle that a text names; None for the exact one."""
    if text == "exact":
        return None
    from rookery.arena.texas42_networks import HandsOracle

    return HandsOracle.of(text)


def make_stage2(given: Given, game: Game) -> Player:
    """Make a player of Texas 42 that asks a network once a play."""
    from rookery.arena.texas42_networks import make_stage2

    return make_stage2(given.command[0], str(given.value(CHOICE.name)))


def make_heuristic(given: Given, game: Game) -> Player:
    """Make the plain player of Texas 42."""
    from rookery.arena.texas42_heuristic import HeuristicPlayer

    return HeuristicPlayer()


def settle_inner(given: Given) -> Given:
    """Say what the player inside means at this moment."""
    inner = read_text(given.command[0], FORMS)
    if inner.form.argument == "PLAYER":
        return given
    return replace(given, command=(KINDS[inner.form.name].settle(inner).text,))


def make_bidder(given: Given, game: Game) -> Player:
    """Make a player of Texas 42 that bids by sampled deals and leaves the play to another."""
    from rookery.arena.texas42_bidder import BidderPlayer

    inner = build(given.command[0], game, whole=False)
    if inner.sees_all or isinstance(inner, BidderPlayer):
        raise BadInput(f"{given.command[0]} cannot play for a bidder: it would see all hands, or bid itself")
    options: dict[str, Any] = {option.name: given.value(option.name) for option in given.form.options}
    return BidderPlayer(inner, **options)


def make_open(given: Given, game: Game) -> Player:
    """Make a player of Texas 42 that looks through all hands to the end."""
    from rookery.arena.texas42_players import OpenPlayer

    return OpenPlayer()


def make_uci(given: Given, game: Game) -> Player:
    """Make a player of a UCI engine."""
    from rookery.arena.uci import UciPlayer

    return engine(UciPlayer, given, game)


def make_gomocup(given: Given, game: Game) -> Player:
    """Make a player of a Gomocup engine."""
    from rookery.arena.gomocup import GomocupPlayer

    for key in given.extras:
        if key in OWN_INFOS:
            raise BadInput(f"info.{key} is told to the engine anyway, from the game and the other options")
    return engine(GomocupPlayer, given, game)


def engine(player: type[EnginePlayer], given: Given, game: Game) -> Player:
    """Make a player of an external engine."""
    values: dict[str, Any] = {option.name: given.value(option.name) for option in given.form.options}
    return player(game, given.command, EngineSettings(extras=given.extras, **values))


def make_oracle(given: Given, game: Game) -> Player:
    """Make a player that sees everything."""
    if given.argument.partition(":")[0].strip() == "oracle":
        raise BadInput("an oracle inside an oracle sees no more")
    player = build(given.argument, game, whole=True)
    player.sees_all = True
    return player


ALL_KINDS = (
    Kind(Form("random"), "random", "any legal move", lambda given, game: RandomPlayer()),
    Kind(
        Form("greedy"),
        "greedy",
        "wins at once if it can, else the best move by alpha-beta of depth 1; ties by the seed",
        make_greedy,
        looks=True,
    ),
    searching(
        "alphabeta", "rookery.search.alphabeta", (DEPTH, NODES, TIME, PROGRESSIVE), "alphabeta:depth=4",
        "alpha-beta with the game's own evaluation", usual=Limits(depth=4), takes=("lines",),
        settings=alphabeta_settings,
    ),
    searching(
        "baseline", "rookery.search.gomoku_baseline", (BASELINE_DEPTH,), "baseline:depth=6",
        "the BaselineAgent of BetaGomoku", game="gomoku", options_of_game={"rule": "freestyle"},
    ),
    searching(
        "advanced", "rookery.search.gomoku_advanced", (ADVANCED_DEPTH, NODES, TIME), "advanced:time=0.5",
        "alpha-beta with threats", usual=Limits(seconds=0.5), game="gomoku",
        options_of_game={"rule": "freestyle"},
    ),
    searching(
        "mcts", "rookery.search.trees", (SIMS, TIME, *TREE_OPTIONS), "mcts:sims=400",
        "tree search with random playouts", usual=USUAL_TREE, takes=("seed", "ply"), check=check_tree,
    ),
    searching(
        "rave", "rookery.search.dag", (SIMS, TIME, EXPLORATION, EQUIVALENCE), "rave:sims=400",
        "UCT with RAVE on a graph of positions", usual=Limits(nodes=400), takes=("seed",),
    ),
    Kind(
        Form("net", (SIMS, TIME, CACHE, PRECISION, VCF, *TREE_OPTIONS, *OF_POLICIES), "FILE"),
        "net:runs/pylos_v5,sims=200",
        "tree search with a network: a file, a run's newest checkpoint, or zoo:NAME",
        make_network,
        settle=settle_network,
        looks=True,
    ),
    Kind(
        Form("lookahead", (), "FILE"),
        "lookahead:zoo:pylos",
        "the move after which a network likes the position most, without a search",
        make_lookahead,
        settle=settle_network,
        looks=True,
    ),
    Kind(
        Form("lc0", (NODES, TIME, *LC0_OPTIONS), "FILE"),
        "lc0:network.pb.gz,nodes=800",
        "Lc0's search with one of its networks",
        make_lc0,
        game="chess",
    ),
    Kind(
        Form("eq", (WORLDS, CHOICE, ORACLE, LAST, TAU, MIX, THREADS)),
        "eq:worlds=50,choice=make",
        "the best play on average over deals its seat thinks possible",
        make_expected,
        game="texas42",
    ),
    Kind(
        Form("stage2", (CHOICE,), "FILE"),
        "stage2:network.safetensors",
        "one pass of a network that sees its own hand and the record of play; nello and sevens by rules of thumb",
        make_stage2,
        game="texas42",
        settle=settle_network,
    ),
    Kind(
        Form("bidder", (DEALS, THRESHOLD, DECLARATIONS, BY), "INNER"),
        "bidder:eq,threshold=0.8",
        "bids by what its hand makes in sampled deals; another player plays",
        make_bidder,
        game="texas42",
        settle=settle_inner,
    ),
    Kind(Form("heuristic"), "heuristic", "a plain player by rules of thumb", make_heuristic, game="texas42"),
    Kind(Form("exact"), "oracle:exact", "perfect play with all hands open", make_open, game="texas42", looks=True),
    Kind(
        Form("uci", (TIME, DEPTH, NODES, GRACE, START), "COMMAND", "option."),
        "uci:stockfish,time=0.1,option.Threads=1",
        "a chess engine that speaks UCI",
        make_uci,
        game="chess",
    ),
    Kind(
        Form("gomocup", (TIME, MEMORY, GRACE, START), "COMMAND", "info."),
        "gomocup:./pbrain-rapfi,time=1",
        "a Gomoku engine that speaks the Gomocup protocol",
        make_gomocup,
        game="gomoku",
    ),
    Kind(Form("human"), "human", "whoever sits at the terminal", lambda given, game: HumanPlayer()),
    Kind(
        Form("oracle", argument="PLAYER"),
        "oracle:mcts:sims=400",
        "a player that sees what is hidden, for games in which something is",
        make_oracle,
    ),
)  # fmt: skip
KINDS = {kind.form.name: kind for kind in ALL_KINDS}
FORMS = {name: kind.form for name, kind in KINDS.items()}


# ---- making --------------------------------------------------------------------------------------


def make_player(text: str, game: Game) -> Player:
    """Make a player of a game from its text; `name` of the player is the text in its canonical spelling."""
    return build(text, game, whole=False)


def build(text: str, game: Game, whole: bool) -> Player:
    """Make a player; `whole` says that it will see everything."""
    given = read_text(text, FORMS)
    kind = KINDS[given.form.name]
    check_fit(kind, given, game, whole)
    try:
        given = kind.settle(given)
        player = kind.make(given, game)
    except BadInput as error:
        raise BadInput(f"player {text!r}: {error}") from None
    player.name = f"oracle:{player.name}" if kind.form.argument == "PLAYER" else given.text
    return player
