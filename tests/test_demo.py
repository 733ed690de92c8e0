import re

import pytest

from symgrad import demo


@pytest.fixture
def printed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    demo.main()
    return capsys.readouterr().out


def test_every_formula_is_shown_with_its_verdict(printed):
    for formula in demo.FORMULAS:
        assert formula in printed
    verdicts = {line.split("│")[1].strip(): line for line in printed.splitlines() if "│" in line}
    assert "NaN" in verdicts["log(bmi)"]
    assert "infinite" in verdicts["s5/(age - age)"]
    assert "valid" in verdicts["bmi + s5"]
    assert re.search(r"\b0\.4[56]", verdicts["bmi + s5"])


def test_a_composed_primitive_is_among_them(printed):
    assert "gauss(x) = exp(-x*x)" in printed
    assert any(formula.startswith("gauss(") for formula in demo.FORMULAS)


def test_last_line_tells_the_speed(printed):
    match = re.search(r"([0-9.]+) billion node-rows per second", printed.splitlines()[-1])
    assert float(match[1]) > 0


def test_the_fit_finds_the_hidden_features(printed):
    found = next(line for line in printed.splitlines() if "found:" in line)
    assert "x4" in found
    assert "x17" in found
