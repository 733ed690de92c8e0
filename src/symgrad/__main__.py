"""``python -m symgrad`` is the command line."""

from symgrad.cli import app

if __name__ == "__main__":
    app(prog_name="symgrad")
