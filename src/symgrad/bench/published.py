"""Results as published, to stand beside ours.

P. Zeng, X. Song, A. Lensen, Y. Ou, Y. Sun, M. Zhang, J. Lv, Differentiable Genetic Programming for
High-dimensional Symbolic Regression: its tables of test R2, of significance tests (DGP against GP
alone), of program sizes, and of recovery rates.
"""

from __future__ import annotations

from symgrad.bench.problems import REAL

METHODS = ("GP", "NSGP", "MGPRC", "DSR", "PSSR", "DGP")

_R2 = """
Satellite_image 0.34±0.203 0.45±0.083  0.61±0.101 -0.39±0.831   -0.10±0.433    0.63±0.118
Fri_c4_50       0.57±0.249 0.55±0.434  0.47±0.166 -2.11±1.479   -0.36±0.931    0.65±0.144
Fri_c0_50       0.58±0.164 0.69±0.219  0.62±0.104 -0.46±0.625   0.13±0.518     0.72±0.069
Fri_c1_50       0.45±0.283 0.58±0.307  0.66±0.087 -1.13±1.644   0.00±0.178     0.67±0.087
Fri_c4_100      0.32±0.281 0.24±0.586  0.43±0.156 -3.13±0.767   -1.19±1.149    0.58±0.147
GeoOriMusic     0.54±0.044 0.51±0.240  0.48±0.109 0.12±0.245    0.27±0.243     0.62±0.066
Tecator         0.87±0.043 0.82±0.174  0.87±0.067 -0.39±1.031   0.61±0.318     0.88±0.017
DLBCL           0.06±0.177 -0.84±0.706 0.30±0.131 -349.84±0.000 -58.68±115.657 0.32±0.127
"""
_SIZE = """
Satellite_image 136±63.2 65±19.7 64±21.5 10±2.3 40±42.2 61±28.9
Fri_c4_50       70±24.8  72±17.8 42±15.6 8±2.8  16±16.5 37±12.0
Fri_c0_50       76±39.9  86±11.7 32±8.9  8±2.1  17±12.7 26±14.1
Fri_c1_50       65±40.1  80±19.4 34±12.0 7±2.7  15±9.2  34±15.5
Fri_c4_100      71±43.5  78±13.8 44±17.1 8±1.4  20±22.1 29±14.8
GeoOriMusic     13±27.8  75±17.3 10±12.9 8±1.6  16±7.9  39±25.0
Tecator         95±43.8  53±18.1 65±21.3 8±2.0  28±23.9 39±21.8
DLBCL           36±16.4  76±18.6 33±13.6 7±0.0  5±0.4   47±21.6
"""
_RECOVERY = """
S1 30 60  40  0   80  90
S2 0  10  0   0   80  80
S3 0  0   40  0   50  50
S4 50 100 100 100 100 100
S5 0  0   90  70  90  100
S6 0  0   0   20  10  20
"""
_RECOVERED_SIZE = """
S1 108±7.1  14±1.9 22±3.8  -      19±4.2 19±5.4
S2 -        42±0.0 -       -      26±4.4 34±10.4
S3 -        -      41±18.5 -      18±1.6 22±3.1
S4 123±51.0 12±9.7 23±8.1  7±0.0  11±4.9 9±2.0
S5 -        -      32±10.5 22±9.6 21±9.3 14±4.7
S6 -        -      -       13±1.5 29±0.0 19±5.5
"""
_MARKS = "-- == -- -- -- == -= --"
_SIZE_MARKS = "- - - - - + - ="


def _table(text: str) -> dict[str, dict[str, str]]:
    """Return cells by method and problem."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {
        method: {line[0]: line[1 + i].replace("±", " ± ") for line in lines}
        for i, method in enumerate(METHODS)
    }


R2 = _table(_R2)
"""Mean test R2 and deviation by method and data set."""

SIZE = _table(_SIZE)
"""Mean number of nodes and deviation."""

RECOVERY = _table(_RECOVERY)
"""Runs of a hundred that found the formula."""

RECOVERED_SIZE = _table(_RECOVERED_SIZE)
"""Mean number of nodes of the formulas that were right."""

MARKS = {name: f"({m[0]}, {m[1]})" for name, m in zip(REAL, _MARKS.split(), strict=True)}
"""DGP against GP in training and test: - is DGP better, + worse, = neither, at 5 %."""

SIZE_MARKS = dict(zip(REAL, _SIZE_MARKS.split(), strict=True))
"""The same of sizes."""
