"""What is in a weight file, for people and programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rookery.nets.lc0.config import Lc0Config, PolicyConfig
from rookery.nets.lc0.network import Lc0Network
from rookery.nets.lc0.numbers import encoding_of
from rookery.nets.lc0.schema import LAYER
from rookery.nets.lc0.wire import Message


def facts_of(network: Lc0Network) -> dict[str, Any]:
    """Return all that is known of a network that was read from a file."""
    config, net = network.config, network.skeleton
    facts: dict[str, Any] = {
        "weights": network.weights,
        "input": f"{config.input.value} {config.input.name}",
        "body": "attention" if config.attention else "tower",
        "activation": config.activation.name.lower(),
    }
    if config.attention:
        facts |= {
            "ffn_activation": config.ffn_activation.name.lower(),
            "smolgen_activation": config.smolgen_activation.name.lower(),
        }
    facts |= {
        "sizes": {name: value for name, value in asdict(config.body).items() if name != "encoders"},
        "layers": [asdict(encoder) for encoder in config.body.encoders],
        "policy_heads": {
            name: asdict(head) | {"kind": head.kind.name.lower()} for name, head in config.policies.items()
        },
        "value_heads": {name: asdict(head) for name, head in config.values.items()},
        "moves_left": None if config.moves_left is None else asdict(config.moves_left),
    }
    return facts if net is None else facts | file_facts(net)


def file_facts(net: Message) -> dict[str, Any]:
    """Return what a file says of itself."""
    version = net.get("min_version")
    encodings = {encoding_of(layer).name.lower() for _, layer in net.inner() if layer.schema is LAYER}
    training = net.get("training_params")
    return {
        "encodings": sorted(encodings),
        "min_version": "" if version is None else ".".join(str(version.get(p, 0)) for p in ("major", "minor", "patch")),
        "license": net.get("license", ""),
        "training": {} if training is None else dict(training.values),
    }


def described(network: Lc0Network) -> list[tuple[str, str]]:
    """Describe a network in lines of a name and a text."""
    config, facts = network.config, facts_of(network)
    lines = [
        ("weights", f"{network.weights:,}"),
        ("input", facts["input"]),
        ("body", body_text(config)),
        ("policy", ", ".join(f"{name}: {policy_text(head)}" for name, head in config.policies.items())),
        (
            "value",
            ", ".join(f"{n}: {'win/draw/loss' if h.outputs == 3 else 'one value'}" for n, h in config.values.items()),
        ),
        ("moves left", "no" if config.moves_left is None else "yes"),
        ("activation", facts["activation"]),
    ]
    if "encodings" in facts:
        lines += [("encoding", ", ".join(facts["encodings"])), ("needs Lc0", facts["min_version"] or "any version")]
        lines += [(f"training: {name}", str(value)) for name, value in facts["training"].items()]
        lines += [("license", facts["license"])] if facts["license"] else []
    return lines


def body_text(config: Lc0Config) -> str:
    """Describe a body in a line."""
    body = config.body
    if not config.attention:
        squeezed = sum(1 for squeeze in body.squeezes if squeeze)
        tail = f", {squeezed} with squeeze and excitation" if squeezed else ""
        return f"tower of {len(body.squeezes)} blocks, {body.filters} filters{tail}"
    first = body.encoders[0]
    parts = [f"attention, {len(body.encoders)} layers of width {body.width}, {first.heads} heads"]
    parts += [f"hidden {first.hidden}", f"embedding {body.embedding.name}"]
    parts += ["smolgen"] if any(encoder.smolgen for encoder in body.encoders) else []
    parts += ["gates"] if body.multiplied or body.added else []
    return ", ".join(parts)


def policy_text(head: PolicyConfig) -> str:
    """Describe a policy head in a few words."""
    sizes = f" {head.width}/{head.model}" if head.model else f" {head.channels}"
    encoders = f" with {len(head.encoders)} layers" if head.encoders else ""
    return f"{head.kind.name.lower()}{sizes}{encoders}"
