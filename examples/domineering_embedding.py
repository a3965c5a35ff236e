"""A small transformer inside a large one: what does the large one know before its first lesson?

    python examples/domineering_embedding.py

The Domineering study asks whether a small pretrained network, embedded in a larger one, helps it learn. The embedded
layers say what they said before; the layers above them are new. This script compares moves with the small network:
the new layers silent at first, the new layers random, and all layers random.
"""

import torch

from rookery.nets.configs import LARGE, SMALL
from rookery.nets.residual import build
from rookery.nets.surgery import embed, random_tokens, verify_embedding

POSITIONS = 64


def main() -> None:
    torch.set_num_threads(1)
    small, tokens = build(SMALL, seed=1).eval(), random_tokens(LARGE, POSITIONS)
    networks = {
        "the small one": small,
        "embedded, new layers silent": embed(small, build(LARGE, seed=42), identity=True).eval(),
        "embedded, new layers random": embed(small, build(LARGE, seed=42)).eval(),
        "large, all layers random": build(LARGE, seed=42).eval(),
    }
    apart = verify_embedding(small, networks["embedded, new layers random"], tokens)
    with torch.no_grad():
        said = {name: network.heads(tokens).policy for name, network in networks.items()}
    print(f"{POSITIONS} random positions of Domineering, 16 x 16, all networks untrained")
    print(f"{'network':30} {'parameters':>12} {'moves like the small one':>26}")
    for name, network in networks.items():
        same = (said[name].argmax(1) == said["the small one"].argmax(1)).float().mean()
        print(f"{name:30} {network.weights:12,} {same:26.0%}")
    print(f"behind the embedded layers the two streams differ by at most {apart.stream:.0e}")


if __name__ == "__main__":
    main()
