"""Settings: what is read, what is refused and how, and that nothing is lost in writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from annotated_types import Ge, Le
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from rookery.errors import BadInput
from rookery.games.library import load
from rookery.learn import original
from rookery.learn.complaints import allowed, models_of
from rookery.learn.network_sections import PerceptronSettings, ResidualSettings, TowerSettings
from rookery.learn.settings import (
    RunSettings,
    check_settings,
    network_values,
    packaged_names,
    read_settings,
    settings_yaml,
    write_settings,
)
from rookery.learn.yaml_text import read_yaml
from rookery.nets.configs import read_config
from support import CONNECT_FOUR, ROOT

ORIGINAL = """
model:
  hidden: 256
  num_blocks: 10
  value_hidden: 128
  policy_hidden: 256
  rich_obs: true

training:
  selfplay_games: 500000
  search_iterations: 64
  batch_size: 256
  replay_buffer_size: 65536
  epochs_per_game: 4
  learning_rate: 0.001
  weight_decay: 0.0001
  c_puct: 1.5
  dirichlet_alpha: 0.3
  selfplay_batch_size: 0

  min_learning_rate: 0.00005
  temp_threshold: 15
  max_grad_norm: 1.0

  # ── Draw limits ──────────────────────────────────────────────
  max_moves: 200
  repetition_limit: 5
  move_limit_draw_penalty: 0.0
  repetition_draw_penalty: 0.0

checkpoints:
  save_every: 1000
  eval_games: 40
  dir: engine/checkpoints_v5

wandb:
  enabled: false
  project: pylos-alphazero
"""

GOOD = """
game: pylos
network: {kind: residual, observation: rich}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# ---- what is refused -----------------------------------------------------------------------------

BAD = [
    # what is set, and what must be in the message
    ("training.batch=0", "training.batch: must be a whole number in 1..4194304, not 0"),
    ("training.batch=true", "training.batch: must be a whole number in 1..4194304, not True"),
    ("training.batch=2.0", "training.batch: must be a whole number"),
    ("training.batch='256'", "training.batch: must be a whole number in 1..4194304, not '256'"),
    ("training.batch=", "training.batch: must be a whole number in 1..4194304, not None"),
    ("training.batch=[256]", "training.batch: must be a whole number in 1..4194304, not [256]"),
    ("training.learning_rate=.nan", "training.learning_rate: must be a number in 1e-12..100, not nan"),
    ("training.learning_rate=.inf", "training.learning_rate: must be a number in 1e-12..100, not inf"),
    ("training.learning_rate=fast", "training.learning_rate: must be a number in 1e-12..100, not 'fast'"),
    ("training.learnig_rate=1e-3", "training.learnig_rate: there is no such key; did you mean learning_rate?"),
    ("training.least_learning_rate=0.5", "training.least_learning_rate: must be at most 0.001 (learning_rate)"),
    ("training.replay=100", "training.replay: must be at least 256 (batch), not 100"),
    ("training.fresh=10", "training.fresh: must be 0 or lie in 256..65536 (batch..replay), not 10"),
    ("training.fresh=100000", "training.fresh: must be 0 or lie in 256..65536"),
    ("training.precision=16", "training.precision: must be 32 or tf32 or bf16, not '16'"),
    ("training.average=mean", "training.average: must be none or ema or swa, not 'mean'"),
    ("training.mask_policy=1", "training.mask_policy: must be true or false, not 1"),
    ("training.steps_per_game=0.00001", "training.steps_per_game: 10000 games at 1e-05 steps a game make no"),
    ("training.warmup_steps=5000", "training.warmup_steps: must be below the 5000 steps planned, not 5000"),
    ("training.root_value_share=1.5", "training.root_value_share: must be a number in 0..1, not 1.5"),
    ("training=fast", "training: must be a section with the keys batch"),
    ("selfplay.leaves=65", "selfplay.leaves: must lie in 1..64 (simulations), not 65"),
    ("training.muon=-1", "training.muon: must be a number in 0..1000, not -1"),
    ("selfplay.gumbel=8", "selfplay.noise: must be 0 with gumbel search"),
    ("selfplay={gumbel: 8, noise: 0.0, urgency: lc0}", "selfplay.urgency: must not be lc0 with gumbel search"),
    ("selfplay.full_share=0.25", "selfplay.cheap_simulations: must lie in 1..64 (simulations) where full_share"),
    ("selfplay.cheap_simulations=8", "selfplay.cheap_simulations: must be 0 where full_share is 1"),
    ("selfplay.urgency=soon", "selfplay.urgency: must be parent or reduced or lc0 or infinite, not 'soon'"),
    ("selfplay.discount=0", "selfplay.discount: must be a number in 0.01..1, not 0"),
    ("selfplay.ply_limit=601", "selfplay.ply_limit: must be at most 600, after which pylos ends by itself, not 601"),
    ("selfplay.random_plies=600", "selfplay.random_plies: must be below 600, the longest game, not 600"),
    ("selfplay.games=-1", "selfplay.games: must be a whole number in 1..2147483648, not -1"),
    ("network.kind=transformer", "network.kind: must be perceptron or residual or tower or lc0, not 'transformer'"),
    ("network={}", "network.kind: is missing; it must be perceptron or residual or tower"),
    ("network={kind: residual}", "network.observation: is missing; it must be a text"),
    ("network=big", "network: must be a section"),
    ("network.hidden=[3]", "network.hidden: there is no such key"),
    ("network.observation=planes", "network.observation: must be one of basic, rich, which pylos offers, not 'planes'"),
    ("network.kind=tower", "network.kind: a tower needs an observation of planes; 'rich' of pylos has the shape (92,)"),
    ("network={kind: perceptron, observation: rich, hidden: [3, x]}", "network.hidden[1]: must be a list of whole"),
    ("network={kind: perceptron, observation: rich, hidden: []}", "network.hidden: must be a list of"),
    ("game=hex", "game: there is no game 'hex'"),
    ("game=pylos:size=3", "game: pylos has no option 'size'"),
    ("game=3", "game: must be a text"),
    ("seed=1.5", "seed: must be a whole number in -9223372036854775808..9223372036854775807, not 1.5"),
    ("device=tpu", "device: must be auto or cpu or cuda or mps, not 'tpu'"),
    ("checkpoints.keep.last=0", "checkpoints.keep.last: must be a whole number in 1..2147483648, not 0"),
    ("checkpoints.keep.first=1", "checkpoints.keep.first: there is no such key"),
    ("gate.games=99", "gate.games: must be even, since games are played in pairs, not 99"),
    ("gate.elo1=-5", "gate.elo1: must be above 0 (elo0), not -5"),
    ("tracking.project=a b", "tracking.project: must be a text of at most 128 signs"),
    ("sefplay.games=3", "sefplay: there is no such key; did you mean selfplay?"),
    ("seed", "--set 'seed' should read section.key=value"),
    ("training..batch=3", "--set 'training..batch=3' should read section.key=value"),
    ("seed.x=3", "--set 'seed.x=3': seed is 1 and has no keys"),
    ("training.batch=0256", "'0256' is no number that can be understood"),
    ("training.batch=1:30", "'1:30' is no number that can be understood"),
    ("seed=99999999999999999999", "seed: must be a whole number in"),
    ("seed=[1", "--set 'seed=[1', line 1, column 3"),
]  # fmt: skip


@pytest.mark.parametrize(("override", "complaint"), BAD, ids=[override for override, _ in BAD])
def test_what_is_wrong_is_told_with_its_path_and_what_is_allowed(tmp_path, override, complaint):
    with pytest.raises(BadInput) as caught:
        read_settings(written(tmp_path, GOOD + "seed: 1\n"), [override])
    assert complaint in str(caught.value)


FILES = [
    ("", "settings.yaml is empty; it should hold the keys game, seed"),
    ("pylos", "settings.yaml is one value, 'pylos'"),
    ("[1, 2]", "settings.yaml is one value, [1, 2]"),
    ("game: [", "settings.yaml, line 1, column 8"),
    ("game: pylos\ngame: chess\n", "settings.yaml, line 2, column 1: the key 'game' stands twice"),
    ("game: !!python/object:os.system {}\n", "could not determine a constructor for the tag"),
    ("game: pylos\n1: 2\nnetwork: {kind: residual, observation: rich}\n", "1: there is no such key"),
    ("seed: 3\n", "has 2 problems:\n  game: is missing; it must be a text of at most 1000 signs"),
    ("a: &a [*a]\n", "no such key"),
    ("? [1, 2]\n: 3\n", "line 1"),
]


@pytest.mark.parametrize(("text", "complaint"), FILES)
def test_a_file_that_holds_no_settings_is_refused_by_name(tmp_path, text, complaint):
    with pytest.raises(BadInput) as caught:
        read_settings(written(tmp_path, text))
    assert "settings.yaml" in str(caught.value)
    assert complaint in str(caught.value)


def test_a_file_that_is_no_text_or_missing_is_refused_by_name(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(b"game: \xff\xfe")
    with pytest.raises(BadInput, match="byte 6 is not UTF-8"):
        read_settings(tmp_path / "binary.yaml")
    with pytest.raises(BadInput, match=r"No such file.*pylos_best, pylos_quick, pylos_v3"):
        read_settings(tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_settings(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_settings("a\0b")


def test_all_problems_are_told_at_once_and_where_they_came_from(tmp_path):
    text = GOOD + "seed: x\nselfplay: {games: 0, leaves: 99}\ntraining: {batch: 512, replay: 100, fresh: 3}\n"
    with pytest.raises(BadInput) as caught:
        read_settings(written(tmp_path, text), ["device=tpu"])
    lines = str(caught.value).split("\n  ")
    assert lines[0].endswith("settings.yaml has 5 problems:")
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "seed", "device", "selfplay.games", "training.replay", "training.fresh",
    ]  # fmt: skip
    assert lines[2].endswith("(from --set device=tpu)")


def test_tf32_is_refused_where_there_can_be_no_card(tmp_path):
    for device in ("cpu", "mps"):
        with pytest.raises(BadInput, match=f"training.precision: tf32 needs a CUDA card; device is {device}"):
            read_settings(written(tmp_path, GOOD), [f"device={device}", "training.precision=tf32"])
    assert read_settings(written(tmp_path, GOOD), ["device=cuda", "training.precision=tf32"]).device == "cuda"


def test_a_replay_must_hold_a_batch_of_taught_positions(tmp_path):
    cheap = ["selfplay.full_share=0.25", "selfplay.cheap_simulations=8", "training.batch=64"]
    with pytest.raises(BadInput, match=r"training\.replay: must be at least 256, .*full_share\) is taught, not 255"):
        read_settings(written(tmp_path, GOOD), [*cheap, "training.replay=255"])
    assert read_settings(written(tmp_path, GOOD), [*cheap, "training.replay=256"]).training.replay == 256


@pytest.mark.parametrize("network", ["{kind: perceptron, hidden: [32]", "{kind: residual, blocks: 0"])
def test_muon_is_refused_where_nothing_lies_between_hidden_units(tmp_path, network):
    asked = [f"network={network}, observation: rich}}", "training.muon=2"]
    with pytest.raises(BadInput, match=r"training\.muon: must be 0, since the network has no matrix .*, not 2"):
        read_settings(written(tmp_path, GOOD), asked)
    assert read_settings(written(tmp_path, GOOD), ["training.muon=2"]).training.muon == 2


def test_symmetries_are_refused_for_a_game_without_any(tmp_path):
    network = "network={kind: perceptron, observation: classical}"
    with pytest.raises(BadInput, match=r"training.symmetries: must be false, since chess has none"):
        read_settings(written(tmp_path, GOOD), ["game=chess", network, "training.symmetries=true"])


# ---- what is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", packaged_names())
def test_packaged_settings_are_accepted_by_name_and_say_every_key_they_set(name):
    assert read_settings(name) == read_settings(f"{name}.yaml")
    text = (ROOT / "src" / "rookery" / "studies" / "configs" / f"{name}.yaml").read_text()
    uncommented = [line for line in text.splitlines() if line.strip() and "#" not in line and not line.endswith(":")]
    assert len(uncommented) <= len(text.splitlines()) / 4  # nearly every key gives its reason


def test_the_ladder_is_there():
    assert {"pylos_v3", "pylos_v4", "pylos_v5", "pylos_v6", "pylos_best", "pylos_quick"} <= set(packaged_names())


def test_values_of_overrides_are_read_as_yaml(tmp_path):
    overrides = [
        "training.learning_rate=1e-4",
        "training.mask_policy=yes",
        "network={kind: perceptron, observation: basic}",
    ]
    found = read_settings(written(tmp_path, GOOD), [*overrides, "network.hidden=[64, 32]", "checkpoints.keep.last=9"])
    assert found.training.learning_rate == 1e-4
    assert found.training.mask_policy is True
    assert found.network == PerceptronSettings(kind="perceptron", observation="basic", hidden=(64, 32))
    assert (found.checkpoints.keep.last, found.checkpoints.keep.every) == (9, 50000)


def test_the_last_override_of_a_key_counts(tmp_path):
    assert read_settings(written(tmp_path, GOOD), ["seed=2", "seed=3"]).seed == 3


def test_a_file_in_the_way_goes_before_a_packaged_name(tmp_path, monkeypatch):
    (tmp_path / "pylos_v5").write_text(GOOD + "seed: 77\n")
    (tmp_path / "pylos_v4").mkdir()  # such as the folder of a run
    monkeypatch.chdir(tmp_path)
    assert read_settings("pylos_v5").seed == 77
    assert read_settings("pylos_v4").seed == 1


def test_settings_cannot_be_changed():
    found = read_settings("pylos_v5")
    with pytest.raises(ValueError, match="frozen"):
        found.seed = 2  # type: ignore[misc]


def test_the_search_of_a_run_has_its_settings():
    tree = read_settings("pylos_best").selfplay.tree(seed=5)
    assert (tree.simulations, tree.urgency, tree.reduction, tree.discount, tree.seed) == (64, "reduced", 0.2, 0.985, 5)
    assert (tree.noise, tree.alpha, tree.temperature, tree.temperature_plies) == (0.25, 0.3, 1.0, 15)


@pytest.mark.parametrize(("games", "rate", "steps"), [(8, 0.5, 4), (7, 0.5, 3), (10, 0.1, 1), (30, 0.1, 3), (3, 4, 12)])
def test_steps_come_at_their_rate(games, rate, steps):
    assert read_settings("pylos_v5", [f"training.steps_per_game={rate}"]).training.steps_after(games) == steps


def test_sizes_of_a_network_follow_from_the_game():
    v5 = read_settings("pylos_v5")
    assert network_values(v5.network, load(v5.game)) == {
        "kind": "residual", "width": 256, "blocks": 10, "value_hidden": 128, "policy_hidden": 256,
        "inputs": 92, "actions": 303,
    }  # fmt: skip
    tower = TowerSettings(kind="tower", observation="planes")
    values = network_values(tower, load("gomoku:size=9"))
    assert (values["planes"], values["rows"], values["cols"], values["policy_planes"]) == (3, 9, 9, 1)
    assert values["extra_actions"] == load("gomoku:size=9").actions - 81
    flat = ResidualSettings(kind="residual", observation="planes")
    assert network_values(flat, load("gomoku:size=9"))["inputs"] == 243


@pytest.mark.parametrize(("name", "parameters"), [("v3", 226_352), ("v4", 893_488), ("v5", 1_527_856)])
def test_the_networks_of_the_ladder_have_the_sizes_of_the_original(name, parameters):
    from rookery.nets.configs import read_config
    from rookery.nets.residual import build

    found = read_settings(f"pylos_{name}")
    network = build(read_config(network_values(found.network, load(found.game))))
    assert sum(weight.numel() for weight in network.parameters()) == parameters


def test_a_value_that_contains_itself_many_times_is_not_written_out(tmp_path):
    levels = "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9) if i else '1'}]\n" for i in range(12))
    with pytest.raises(BadInput) as caught:
        read_settings(written(tmp_path, f"{levels}seed: *l11\n"))
    assert len(str(caught.value)) < 5000


def test_a_game_from_a_file_can_be_trained(tmp_path):
    kind = next(iter(load(CONNECT_FOUR).observations))
    text = f"game: {CONNECT_FOUR}\nnetwork: {{kind: perceptron, observation: {kind}}}\n"
    assert read_settings(written(tmp_path, text)).game == CONNECT_FOUR


# ---- the original's files ------------------------------------------------------------------------


def test_the_original_file_as_printed_is_v5(tmp_path):
    ours, packaged = read_settings(written(tmp_path, ORIGINAL)), read_settings("pylos_v5")
    assert ours.folder == "engine/checkpoints_v5"
    assert ours.training.steps_per_game == 0.5
    assert ours.planned_steps == 250_000
    same = {"folder": packaged.folder, "selfplay": ours.selfplay.model_copy(update={"at_once": 8192})}
    assert ours.model_copy(update=same) == packaged


def test_every_key_of_the_original_has_a_place(tmp_path):
    """Change each value of its file in turn; the settings must change exactly where the mapping says."""
    values = read_yaml(ORIGINAL, "original")
    values["training"] |= {"value_loss_weight": 1.0}
    before = check_settings(original.translated(values, "original"), "original").model_dump()
    others: dict[type, Any] = {
        bool: lambda v: not v,
        int: lambda v: v // 2 or 7,
        float: lambda v: v / 2 or 0.5,
        str: "x{}".format,
    }
    for key, ours in original.KEYS.items():
        section, _, name = key.partition(".")
        if key == "checkpoints.resume_from":
            continue
        changed = {
            **values,
            section: {**values[section], name: others[type(values[section][name])](values[section][name])},
        }
        after = check_settings(original.translated(changed, "original"), "original").model_dump()
        assert differing(before, after) == {ours}, key


def test_a_higher_limit_of_the_original_raises_the_cap_of_the_game(tmp_path):
    found = read_settings(written(tmp_path, "training: {max_moves: 250}"))
    assert (found.game, found.selfplay.ply_limit) == ("pylos:removal=greedy,ply_cap=250", 250)
    with pytest.raises(BadInput, match=r"ply_cap of pylos must be a whole number in 1..255, not 300"):
        read_settings(written(tmp_path, "training: {max_moves: 300}"))


def differing(before: dict[str, Any], after: dict[str, Any], path: str = "") -> set[str]:
    found: set[str] = set()
    for key in before:
        here = f"{path}.{key}" if path else key
        if isinstance(before[key], dict):
            found |= differing(before[key], after[key], here)
        elif before[key] != after[key]:
            found.add(here)
    return found


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("model: {hiden: 3}", "model.hiden: there is no such key in the original's files; did you mean model.hidden?"),
        ("model: {rich_obs: 3}", "model.rich_obs: must be true or false, not 3"),
        ("model: 3", "model: there is no such key in the original's files"),
        ("training: {epochs_per_game: x}", "training.epochs_per_game: must be a number, not 'x'"),
        (
            "training: {batch_size: x}",
            "training.batch: must be a whole number in 1..4194304, not 'x' (training.batch_size in the file)",
        ),
        ("checkpoints: {dir: }", "folder: must be a text of at most 1000 signs without control characters, not None"),
        ("model: {}\nother: 3", "other: there is no such key in the original's files"),
        ("wandb: {enabled: true}\ncheckpoints: {resume_from: a.pth}", "checkpoints.resume_from: must be empty"),
    ],
)
def test_what_the_original_does_not_know_is_refused(tmp_path, text, complaint):
    with pytest.raises(BadInput) as caught:
        read_settings(written(tmp_path, text))
    assert complaint in str(caught.value)


def test_empty_sections_of_the_original_stand_for_its_defaults(tmp_path):
    found = read_settings(written(tmp_path, "model:\ntraining:\nwandb:\n"))
    assert found.network == ResidualSettings(kind="residual", observation="basic")
    assert (found.selfplay.urgency, found.training.gradient_norm) == ("infinite", 0.0)


def test_overrides_of_an_original_file_use_our_names(tmp_path):
    assert read_settings(written(tmp_path, ORIGINAL), ["training.batch=512"]).training.batch == 512
    with pytest.raises(BadInput, match=r"training.batch_size: there is no such key.*from --set"):
        read_settings(written(tmp_path, ORIGINAL), ["training.batch_size=512"])


# ---- writing -------------------------------------------------------------------------------------


def values_of(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw values of every key of a section, within their bounds."""
    return st.fixed_dictionaries({}, optional={name: value_of(field) for name, field in model.model_fields.items()})


def value_of(field: Any) -> st.SearchStrategy[Any]:
    models, kind = models_of(field), field.annotation
    if models:
        return st.one_of([values_of(model) for model in models])
    if get_args(kind) and get_origin(kind) is not tuple:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        return st.lists(st.integers(1, 65536), min_size=1, max_size=5)
    if kind is bool:
        return st.booleans()
    if kind is str:
        return st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=30) | st.sampled_from(
            ["1e3", "1", "true", "null", "~", "a: b", "# x", "2001-01-01", "0x10", " x ", "- y", "1_0"]
        )
    least = next(bound.ge for bound in field.metadata if isinstance(bound, Ge))
    most = next(bound.le for bound in field.metadata if isinstance(bound, Le))
    if kind is int:
        return st.integers(least, most) | st.integers(least, min(most, least + 100))
    return st.floats(least, most, allow_subnormal=False)


@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(values_of(RunSettings), st.sampled_from(["basic", "rich"]), st.sampled_from(["pylos", "pylos:removal=greedy"]))
def test_settings_read_back_equal(values, observation, game):
    network = {"kind": "residual"} | values.pop("network", {}) | {"observation": observation}
    values["selfplay"] = {"noise": 0} | values.get("selfplay", {}) | {"random_plies": 0, "ply_limit": 0}
    try:
        found = check_settings(values | {"network": network, "game": game}, "drawn")
    except BadInput:
        assume(False)
    assert check_settings(read_yaml(settings_yaml(found), "written"), "written") == found


@pytest.mark.parametrize("name", packaged_names())
def test_a_written_file_reads_back_equal(tmp_path, name):
    found = read_settings(name)
    write_settings(found, tmp_path / "config.yaml")
    assert read_settings(tmp_path / "config.yaml") == found


# ---- docs ----------------------------------------------------------------------------------------


def keys_of(model: type[BaseModel], path: str = "") -> list[tuple[str, str, str, str]]:
    """Return path, allowed values, default and meaning of every key."""
    rows = []
    for name, field in model.model_fields.items():
        models = models_of(field)
        if models:
            rows += [row for inner in models for row in keys_of(inner, f"{path}{name}.")]
            continue
        default = "" if field.is_required() else str(field.default if field.default != "" else "(empty)").lower()
        rows.append((path + name, allowed(field), default, " ".join((field.description or "").split())))
    return list(dict.fromkeys(rows))


def test_the_page_on_training_explains_every_key_as_it_is():
    page = (ROOT / "docs" / "training.md").read_text()
    for key, may_be, default, meaning in keys_of(RunSettings):
        assert meaning, key
        if key == "network.kind":
            continue
        assert f"| `{key}` | {may_be} | {default} | {meaning} |" in page


def test_the_page_on_training_maps_every_key_of_the_original():
    page = (ROOT / "docs" / "training.md").read_text()
    for key, ours in original.KEYS.items():
        assert f"| `{key}` | " + (f"`{ours}`" if ours else "") in page


# ---- towers by name ------------------------------------------------------------------------------


def tower_run(**network):
    return {"game": "gomoku:size=9", "network": {"kind": "tower", "observation": "planes", **network}}


@pytest.mark.parametrize(("preset", "sizes"), [("5x64", (5, 64)), ("6x64", (6, 64)), ("10x128", (10, 128))])
@pytest.mark.parametrize("observation", ["planes", "history"])
def test_a_preset_stands_for_blocks_and_width(preset, sizes, observation):
    settings = check_settings(tower_run(preset=preset, observation=observation, squeeze=8, pooling=4), "run")
    assert (settings.network.blocks, settings.network.width) == sizes
    assert check_settings(read_yaml(settings_yaml(settings), "again"), "again") == settings
    values = network_values(settings.network, load("gomoku:size=9"))
    assert values["planes"] == {"planes": 3, "history": 17}[observation]
    assert read_config(values).squeeze == 8


@pytest.mark.parametrize(
    ("network", "complaint"),
    [
        ({"preset": "6x64", "width": 32}, r"network\.width: must be 64 or left out \(preset 6x64\), not 32"),
        ({"preset": "7x64"}, r"network\.preset: must be none or 5x64 or 6x64 or 10x128, not '7x64'"),
        ({"pooling": 65}, r"network\.pooling: must lie in 0\.\.64 \(width\), not 65"),
        ({"pooling": 1, "blocks": 1}, r"network\.pooling: needs two blocks; blocks is 1"),
    ],
)
def test_towers_that_cannot_be_are_refused(network, complaint):
    with pytest.raises(BadInput, match=complaint):
        check_settings(tower_run(**network), "run")
