import pytest
import typer

from symgrad.complaints import INTERRUPTED, complaining


@pytest.mark.parametrize(
    ("error", "words", "code"),
    [
        (ValueError("too small"), "too small", 1),
        (FileNotFoundError(2, "No such file", "a.csv"), "a.csv: No such file", 1),
        (ImportError("install it"), "install it", 1),
        (KeyboardInterrupt(), "interrupted", INTERRUPTED),
    ],
)
def test_errors_become_a_sentence_and_an_exit_code(capsys, error, words, code):
    @complaining
    def command():
        raise error

    with pytest.raises(typer.Exit) as stopped:
        command()
    assert stopped.value.exit_code == code
    assert capsys.readouterr().err == f"symgrad: {words}\n"


def test_what_goes_well_is_returned():
    assert complaining(lambda: 3)() == 3
