"""What is special about the root: noise, Gumbel search, the end of the search and the choice of the move.

Gumbel search (Danihelka and others, Policy improvement by planning with Gumbel, 2022) considers the m moves with the
largest noise + logit. It gives them equal numbers of simulations, drops the worse half by

    noise + logit + (value_visits + most visits) * value_scale * Q,   Q in [0, 1]

and goes on with the rest. Every search draws its noise anew, one number for each legal move, and a root move is known
by its edge, never by its action number.
"""

from __future__ import annotations

import math
from typing import Any

from numba import float32, int32, int64, njit, uint64

from rookery.games.bits import Word
from rookery.games.rng import number, random_bits
from rookery.search.inner import inner
from rookery.search.lanes import lane_argmax, lane_sum, lane_sync
from rookery.search.records import at
from rookery.search.tree_arrays import DECIDED, DRAWN, Single, Tree
from rookery.search.tree_forced import most_visited, target_visits

NOISE, CHOICE, PLAYOUT = range(3)  # what random numbers are for
PURPOSES = 4
ATTEMPTS = 64  # random numbers set aside for one draw from a gamma distribution
LEAST_PRIOR = 1e-12  # of a move that is taught by its prior, so that these never are nothing


@inner
def tree_key(t: Tree, purpose: int) -> Word:
    """Return the key of a tree's random numbers for one purpose: others in each search of a game."""
    tree = t.tree
    return random_bits(t.options.seed, tree.stream, int64(tree.search) * PURPOSES + purpose)


@inner
def fraction(word: Word) -> float:
    """Turn 64 random bits into a number in (0, 1)."""
    return (float(word >> uint64(12)) + 0.5) / 4503599627370496.0


@njit(cache=True, nogil=True)
def gamma_draw(alpha: float, key: Word, counter: int) -> float:
    """Draw from a gamma distribution by Marsaglia and Tsang's method, with the numbers of a key from `counter` on."""
    shape = alpha if alpha >= 1.0 else alpha + 1.0
    d = shape - 1.0 / 3.0
    drawn = d
    for attempt in range(1, ATTEMPTS - 2, 3):
        radius = math.sqrt(-2.0 * math.log(fraction(number(key, counter + attempt))))
        normal = radius * math.cos(2.0 * math.pi * fraction(number(key, counter + attempt + 1)))
        v = 1.0 + normal / math.sqrt(9.0 * d)
        if v > 0.0:
            v = v * v * v
            bound = 0.5 * normal * normal + d - d * v + d * math.log(v)
            if math.log(fraction(number(key, counter + attempt + 2))) < bound:
                drawn = d * v
                break
    if alpha < 1.0:
        drawn *= fraction(number(key, counter)) ** (1.0 / alpha)
    return drawn


@inner
def add_dirichlet(t: Tree, lane: int, width: int) -> None:
    """Mix Dirichlet noise into the root's priors."""
    root, options, key = at(t.nodes, 0), t.options, tree_key(t, NOISE)
    total = 0.0
    for e in range(root.first + lane, root.first + root.count, width):
        total += gamma_draw(options.alpha, key, (e - root.first) * ATTEMPTS)
    total = max(lane_sum(total), 1e-300)
    for e in range(root.first + lane, root.first + root.count, width):
        share = gamma_draw(options.alpha, key, (e - root.first) * ATTEMPTS) / total
        edge = at(t.edges, e)
        edge.prior = float32((1.0 - options.noise) * edge.prior + options.noise * share)
    lane_sync()


@inner
def add_gumbel(t: Tree, lane: int, width: int) -> None:
    """Draw noise + logit of every root move."""
    root, options, key = at(t.nodes, 0), t.options, tree_key(t, NOISE)
    for i in range(lane, root.count, width):
        drawn = -math.log(-math.log(fraction(number(key, i))))
        logit = math.log(max(at(t.edges, root.first + i).prior, float32(1e-30)))
        at(t.gumbels, i).x = float32(options.gumbel_scale * drawn + logit)
    lane_sync()


@inner
def prepare_root(t: Tree, lane: int, width: int) -> None:
    """Draw the noise of a search, once its root has edges."""
    root, options = at(t.nodes, 0), t.options
    if options.gumbel > 0:
        add_gumbel(t, lane, width)
    elif options.noise > float32(0):
        add_dirichlet(t, lane, width)
        mass = float32(0)
        for e in range(root.first + lane, root.first + root.count, width):
            if at(t.edges, e).visits > 0:
                mass += at(t.edges, e).prior
        mass = lane_sum(mass)
        if lane == 0:
            root.mass = mass
    lane_sync()  # every lane has seen that the root was fresh
    if lane == 0:
        t.tree.fresh = int32(DRAWN)
    lane_sync()


# ---- Gumbel search -------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def considered_visits(moves: int, simulations: int, i: int) -> int:
    """Return how often the move of simulation i must have been visited before, in sequential halving over `moves`."""
    if moves <= 1:
        return i
    rounds = 0
    while 1 << rounds < moves:
        rounds += 1
    visits = 0
    while True:
        extra = max(1, simulations // (rounds * moves))
        if i < extra * moves:
            return visits + i // moves
        i -= extra * moves
        visits += extra
        moves = max(2, moves // 2)


@inner
def value_weight(options: Any, most: int) -> Single:
    """Return what a Q in [0, 1] is multiplied with beside a logit."""
    return (options.value_visits + float32(most)) * options.value_scale


@inner
def most_visits(t: Tree) -> int:
    """Return the visits of the most visited root move."""
    root, most = at(t.nodes, 0), int64(0)
    for e in range(root.first, root.first + root.count):
        most = max(most, int64(at(t.edges, e).visits))
    return int(most)


@inner
def gumbel_score(t: Tree, e: int, weight: Single) -> float:
    """Return noise + logit + weighted Q of a root move; an unvisited one has the root's own value as Q.

    In double precision, so that a card, which rounds a product and a sum at once, ranks moves as a CPU does.
    """
    root, edge = at(t.nodes, 0), at(t.edges, e)
    mean = edge.mean if edge.visits > 0 else root.value
    return float(at(t.gumbels, e - root.first).x) + float(weight) * ((float(mean) + 1.0) / 2.0)


@inner
def gumbel_edge(t: Tree, lane: int, width: int) -> int:
    """Return the root move of the next simulation by sequential halving, on every lane."""
    root, tree, options = at(t.nodes, 0), t.tree, t.options
    considered = min(options.gumbel, root.count)
    visits = considered_visits(considered, tree.budget, tree.made + tree.gathered)
    weight = value_weight(options, visits)  # the same for a whole round, so a round's order is settled at its start
    best, chosen = -1e300, int32(root.first + root.count)
    for e in range(root.first + lane, root.first + root.count, width):
        score = gumbel_score(t, e, weight)
        if at(t.edges, e).visits == visits and score > best:
            best, chosen = score, int32(e)
    chosen = lane_argmax(best, chosen)
    return int(chosen) if chosen < root.first + root.count else int(root.first)


@inner
def completed_value(t: Tree) -> float:
    """Return what unvisited root moves are worth: the root's value mixed with the visited moves' means by prior."""
    root = at(t.nodes, 0)
    visits, mass, weighted = 0, 0.0, 0.0
    for e in range(root.first, root.first + root.count):
        edge = at(t.edges, e)
        if edge.visits > 0:
            visits += edge.visits
            mass += edge.prior
            weighted += float(edge.prior) * float(edge.mean)
    if visits == 0:
        return float(root.value)
    return (float(root.value) + visits * weighted / max(mass, 1e-30)) / (1.0 + visits)


@inner
def improved_policy(t: Tree, out: Any) -> None:
    """Write softmax(logit + weighted completed Q) of every root move, what Gumbel search teaches a network."""
    root, completed = at(t.nodes, 0), completed_value(t)
    weight = float(value_weight(t.options, most_visits(t)))
    top = -1e300
    for i in range(root.count):
        edge = at(t.edges, root.first + i)
        mean = float(edge.mean) if edge.visits > 0 else completed
        out[i] = math.log(max(float(edge.prior), 1e-30)) + weight * (mean + 1.0) / 2.0
        top = max(top, out[i])
    total = 0.0
    for i in range(root.count):
        out[i] = math.exp(out[i] - top)
        total += out[i]
    for i in range(root.count):
        out[i] /= total


# ---- the end and the choice ----------------------------------------------------------------------


@inner
def draws(t: Tree) -> bool:
    """Tell whether the move is drawn by temperature: not once a win is proven, nor before a move was visited."""
    options, root = t.options, at(t.nodes, 0)
    by_temperature = options.temperature > float32(0) and options.gumbel == 0
    return bool(by_temperature and t.tree.ply < options.temperature_plies and root.proof <= 0 and root.visits > 1)


@inner
def decided(t: Tree) -> None:
    """End a search whose move can no longer change: proven, alone, or too far ahead.

    To be ahead decides nothing where the move is drawn, by Gumbel search, or may still be proven to lose.
    """
    root, tree, options = at(t.nodes, 0), t.tree, t.options
    if root.proof != 0 or root.count == 1:
        tree.status = DECIDED
        return
    if options.gumbel > 0 or options.prove or draws(t) or tree.budget - tree.made >= root.visits:
        return
    most, second = 0, 0
    for e in range(root.first, root.first + root.count):
        visits = at(t.edges, e).visits
        if visits > most:
            most, second = visits, most
        elif visits > second:
            second = visits
    if most > second + tree.budget - tree.made:
        tree.status = DECIDED


@inner
def better(t: Tree, e: int, best: int, weight: Single) -> bool:
    """Tell whether a root move is to be preferred: proven wins first, proven losses last, then the most visits.

    Of as many visits, it is the higher score in Gumbel search, with the weight of a Q; else the mean, then the prior.
    """
    this, other = at(t.edges, e), at(t.edges, best)
    if t.options.prove and at(t.edges, e).proof != at(t.edges, best).proof:
        return bool(at(t.edges, e).proof > at(t.edges, best).proof)
    if this.visits != other.visits:
        return bool(this.visits > other.visits)
    if t.options.gumbel > 0:
        return bool(gumbel_score(t, e, weight) > gumbel_score(t, best, weight))
    if this.mean != other.mean:
        return bool(this.mean > other.mean)
    return bool(this.prior > other.prior)


@inner
def best_edge(t: Tree) -> int:
    """Return the root's preferred edge."""
    root = at(t.nodes, 0)
    best = int64(root.first)
    weight = value_weight(t.options, most_visits(t))
    for e in range(root.first + 1, root.first + root.count):
        if better(t, e, best, weight):
            best = e
    return int(best)


@inner
def is_refuted(t: Tree, e: int) -> bool:
    """Tell whether a root move is proven to lose where not all are."""
    return bool(t.options.prove and at(t.edges, e).proof < 0 and at(t.nodes, 0).proof == 0)


@inner
def draw_weight(t: Tree, e: int, best: int) -> float:
    """Return the weight of a root move in the draw: none if it was not visited, or is proven to lose and others not."""
    visits, power = target_visits(t, e, best), 1.0 / float(t.options.temperature)
    if visits == 0 or is_refuted(t, e):
        return 0.0
    return float((float(visits) / float(at(t.edges, best).visits)) ** power)


@inner
def drawn_edge(t: Tree) -> int:
    """Return a root edge drawn in proportion to visits ^ (1 / temperature)."""
    root, best, total = at(t.nodes, 0), most_visited(t), 0.0
    for e in range(root.first, root.first + root.count):
        total += draw_weight(t, e, best)
    if total == 0.0:  # all that was visited loses
        return best_edge(t)
    left = total * fraction(number(tree_key(t, CHOICE), 0))
    last = int(root.first)
    for e in range(root.first, root.first + root.count):
        weight = draw_weight(t, e, best)
        if weight > 0.0:
            last = e
            left -= weight
            if left <= 0.0:
                break
    return last


@inner
def choose(t: Tree) -> int:
    """Choose the move of a finished search and return its edge; one lane is enough."""
    t.tree.chosen = int32(drawn_edge(t) if draws(t) else best_edge(t))
    return int(t.tree.chosen)


@inner
def is_won(t: Tree) -> bool:
    """Tell whether a win is proven at the root."""
    return bool(t.options.prove and at(t.nodes, 0).proof > 0)


@inner
def taught_edge(t: Tree) -> int:
    """Return the root's edge that is taught most: that of a proven win, or the most visited.

    -1 where all that was visited is proven to lose, and others are not: no visits are left to be taught.
    """
    if is_won(t):
        return best_edge(t)
    root, best = at(t.nodes, 0), most_visited(t)
    for e in range(root.first, root.first + root.count):
        if not is_refuted(t, e) and target_visits(t, e, best) > 0:
            return best
    return -1


@inner
def taught_weight(t: Tree, e: int, best: int) -> float:
    """Return the weight of a root move in what is taught: its visits, but a proven win is taught alone.

    A move that is proven to lose has none where others are not; `best` is `taught_edge`. Where nothing is left of the
    visits, moves that are not proven to lose have their priors: what the network said without the others.
    """
    if is_won(t):
        return 1.0 if e == best else 0.0
    if is_refuted(t, e):
        return 0.0
    return float(target_visits(t, e, best)) if best >= 0 else max(float(at(t.edges, e).prior), LEAST_PRIOR)


# ---- what is told --------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def follows(edges: Any, e: int, best: int) -> bool:
    """Tell whether a visited move comes before another in a line: by its proof, its visits, its mean, its prior."""
    this, other = edges[e], edges[best]
    if this.proof != other.proof:
        return bool(this.proof > other.proof)
    if this.visits != other.visits:
        return bool(this.visits > other.visits)
    if this.mean != other.mean:
        return bool(this.mean > other.mean)
    return bool(this.prior > other.prior)


@njit(cache=True, nogil=True)
def principal_line(nodes: Any, edges: Any, e: int, out: Any) -> int:
    """Write the moves of a tree's line that begins with an edge into `out`; return how many there are.

    A root may have hundreds of moves, each with a line, and a search that is told to stop must tell them at once.
    """
    length = 0
    while e >= 0 and length < out.shape[0]:
        out[length] = edges[e].action
        length += 1
        child, e = edges[e].child, -1
        if child >= 0:
            for other in range(nodes[child].first, nodes[child].first + nodes[child].count):
                if edges[other].visits > 0 and (e < 0 or follows(edges, other, e)):
                    e = other
    return length
