"""Ordinary openings of chess, as moves from the first position: what both sides play without being much worse."""

from __future__ import annotations

CHESS_OPENINGS = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6",  # Ruy Lopez
    "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4",  # Berlin
    "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6",  # Italian
    "e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Bc5",  # two knights
    "e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6",  # Scotch
    "e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5 Bb4",  # four knights
    "e4 e5 Nf3 Nf6 Nxe5 d6 Nf3 Nxe4",  # Petrov
    "e4 e5 Nf3 d6 d4 Nf6 Nc3 Nbd7",  # Philidor
    "e4 e5 Nc3 Nf6 Bc4 Nc6 d3 Bb4",  # Vienna
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6",  # Najdorf
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6",  # dragon
    "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6",  # classical Sicilian
    "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5",  # Sveshnikov
    "e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6",  # accelerated dragon
    "e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6",  # Kan
    "e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6 Nc3 Qc7",  # Taimanov
    "e4 c5 Nf3 Nc6 Bb5 g6 O-O Bg7",  # Rossolimo
    "e4 c5 c3 Nf6 e5 Nd5 d4 cxd4",  # Alapin
    "e4 c5 Nc3 Nc6 g3 g6 Bg2 Bg7",  # closed Sicilian
    "e4 e6 d4 d5 Nc3 Nf6 Bg5 Be7",  # classical French
    "e4 e6 d4 d5 Nc3 Bb4 e5 c5",  # Winawer
    "e4 e6 d4 d5 Nd2 Nf6 e5 Nfd7",  # Tarrasch French
    "e4 e6 d4 d5 e5 c5 c3 Nc6",  # advance French
    "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5",  # classical Caro-Kann
    "e4 c6 d4 d5 e5 Bf5 Nf3 e6",  # advance Caro-Kann
    "e4 c6 d4 d5 exd5 cxd5 c4 Nf6",  # Panov
    "e4 d5 exd5 Qxd5 Nc3 Qa5 d4 Nf6",  # Scandinavian
    "e4 d6 d4 Nf6 Nc3 g6 Nf3 Bg7",  # Pirc
    "e4 Nf6 e5 Nd5 d4 d6 Nf3 Bg4",  # Alekhine
    "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7",  # queen's gambit declined
    "d4 d5 c4 e6 Nc3 Nf6 cxd5 exd5",  # exchange
    "d4 d5 c4 e6 Nc3 c5 cxd5 exd5",  # Tarrasch
    "d4 d5 c4 c6 Nf3 Nf6 Nc3 dxc4",  # Slav
    "d4 d5 c4 c6 Nf3 Nf6 Nc3 e6",  # semi-Slav
    "d4 d5 c4 dxc4 Nf3 Nf6 e3 e6",  # queen's gambit accepted
    "d4 d5 Nf3 Nf6 Bf4 c5 e3 Nc6",  # London
    "d4 d5 Nf3 Nf6 e3 e6 Bd3 c5",  # Colle
    "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O",  # Nimzo-Indian
    "d4 Nf6 c4 e6 Nc3 Bb4 Qc2 O-O",
    "d4 Nf6 c4 e6 Nf3 b6 g3 Ba6",  # queen's Indian
    "d4 Nf6 c4 e6 Nf3 Bb4+ Bd2 Qe7",  # Bogo-Indian
    "d4 Nf6 c4 e6 g3 d5 Bg2 Be7",  # Catalan
    "d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O",  # King's Indian
    "d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5",  # Grünfeld
    "d4 Nf6 c4 c5 d5 e6 Nc3 exd5 cxd5 d6",  # Benoni
    "d4 f5 g3 Nf6 Bg2 e6 Nf3 Be7",  # Dutch
    "c4 e5 Nc3 Nf6 Nf3 Nc6 g3 d5",  # English
    "c4 c5 Nf3 Nf6 Nc3 Nc6 g3 g6",  # symmetrical English
    "c4 e6 Nf3 d5 g3 Nf6 Bg2 Be7",
    "Nf3 d5 g3 Nf6 Bg2 e6 O-O Be7",  # Réti
)
