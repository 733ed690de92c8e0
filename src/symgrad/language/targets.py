"""The table of languages that formulas are exported to: how each writes the built-in primitives.

A new primitive needs an entry in every target, or one in `CALLS` if all of them have such a
function; a test over the whole table says where one is missing.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field

from symgrad.language.primitive import ATOM, FIRST_COMPOSED, Body
from symgrad.language.primitive_set import PrimitiveSet
from symgrad.language.table import BUILTINS, CODE_OF


@dataclass(frozen=True)
class Target:
    """One language.

    Attributes
    ----------
    title : str
        Its name in messages.
    templates : mapping of str to str
        Each built-in primitive, with ``#1``, ``#2`` for the arguments, each once at most. What is
        no call has the printing level of the primitive's row.
    infinity, undefined : str
        How these two are written.
    frame : str
        The whole text around ``{comments}``, ``{helpers}``, ``{arguments}``, ``{prepare}``,
        ``{lines}`` and ``{result}``.
    line : str
        A line that names an intermediate value; empty if there are no lines.
    comment : str
        The line that says which column an argument is.
    argument, nothing : str
        How an argument is declared, and what stands for none.
    prepare : str
        A line for each argument, if it must be converted.
    helpers : mapping of str to str
        What a primitive needs to be defined or imported.
    needs : mapping of str to tuple
        Where precedence differs: the least levels of arguments without parentheses.
    reserved : str
        Pattern of words that no argument may be called.
    longest : int, optional
        Most characters of the text.
    """

    title: str
    templates: Mapping[str, str]
    infinity: str
    undefined: str
    frame: str
    line: str = ""
    comment: str = ""
    argument: str = "{}"
    nothing: str = ""
    prepare: str = ""
    helpers: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    reserved: str = ""
    longest: int | None = None


CALLS = ("sin", "cos", "exp", "log", "sqrt", "abs", "tanh", "min", "max", "tan", "asin", "acos",
         "atan", "sinh", "cosh")  # fmt: skip
"""Primitives that are functions in every target."""


def _calls(prefix: str = "", **renamed: str) -> dict[str, str]:
    """Return templates that call the functions of a library."""
    slots = {1: "(#1)", 2: "(#1, #2)"}
    return {
        name: prefix + renamed.get(name, name) + slots[BUILTINS[CODE_OF[name]].arity]
        for name in CALLS
    }


_SIGNS = {
    "add": "#1 + #2",
    "sub": "#1 - #2",
    "mul": "#1*#2",
    "div": "#1/#2",
    "neg": "-#1",
    "inv": "1.0/#1",
}
_PYTHON_SIGNS = _SIGNS | {"pow": "#1**#2", "square": "#1**2", "cube": "#1**3"}

WRITTEN_OUT: dict[str, Body | None] = {
    "sigmoid": PrimitiveSet(["logistic(x) = 1/(1 + exp(-x))"])[FIRST_COMPOSED].body
}
"""Definitions for targets without a template of their own."""

_PYTHON_WORDS = "|".join([*keyword.kwlist, "np|torch|jax|jnp|float|formula|t[0-9]+"])
_PYTHON_FRAME = "{comments}def formula({arguments}):\n{prepare}{lines}    return {result}\n"
_PYTHON_LINE = "    {} = {}\n"
_PYTHON_COMMENT = "# {}: column {}\n"

PYTHON = Target(
    title="Python",
    templates=_PYTHON_SIGNS
    | _calls("np.", asin="arcsin", acos="arccos", atan="arctan", min="minimum", max="maximum"),
    infinity="np.inf",
    undefined="np.nan",
    frame="import numpy as np\n\n\n{comments}def formula({arguments}):\n{prepare}"
    '    with np.errstate(all="ignore"):\n{lines}        return {result}\n',
    line="        {} = {}\n",
    comment=_PYTHON_COMMENT,
    prepare="    {0} = np.asarray({0}, dtype=np.float64)\n",
    reserved=_PYTHON_WORDS,
)

TORCH = Target(
    title="PyTorch",
    templates=_PYTHON_SIGNS
    | _calls("torch.")
    # A number may be a bound of clamp, and no argument of minimum.
    | {"min": "torch.clamp(#1, max=#2)", "max": "torch.clamp(#1, min=#2)"}
    | {"sigmoid": "torch.sigmoid(#1)"},
    infinity='float("inf")',
    undefined='float("nan")',
    frame="import torch\n\n\n" + _PYTHON_FRAME,
    line=_PYTHON_LINE,
    comment=_PYTHON_COMMENT,
    prepare="    {0} = torch.as_tensor({0})\n",
    reserved=_PYTHON_WORDS,
)

JAX = Target(
    title="JAX",
    templates=_PYTHON_SIGNS
    | _calls("jnp.", asin="arcsin", acos="arccos", atan="arctan", min="minimum", max="maximum")
    | {"sigmoid": "jax.nn.sigmoid(#1)"},
    infinity="jnp.inf",
    undefined="jnp.nan",
    frame="{helpers}import jax.numpy as jnp\n\n\n" + _PYTHON_FRAME,
    line=_PYTHON_LINE,
    comment=_PYTHON_COMMENT,
    prepare="    {0} = jnp.asarray({0})\n",
    helpers={"sigmoid": "import jax\n"},
    reserved=_PYTHON_WORDS,
)

_C_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch "
    "typedef union unsigned void volatile while bool true false nullptr constexpr typeof "
    "alignas alignof asm static_assert thread_local class new delete template this namespace "
    "operator private public protected virtual friend try catch throw using typename export "
    "mutable explicit and or not xor bitand bitor compl linux unix i386 formula least "
    "greatest sin cos exp log sqrt fabs tanh tan asin acos atan sinh cosh pow t[0-9]+"
)

C = Target(
    title="C",
    templates=_SIGNS
    | _calls(abs="fabs", min="least", max="greatest")
    | {"pow": "pow(#1, #2)", "square": "pow(#1, 2.0)", "cube": "pow(#1, 3.0)"},
    infinity="INFINITY",
    undefined="NAN",
    frame="#include <math.h>\n\n{helpers}{comments}double formula({arguments})\n{{\n{lines}"
    "    return {result};\n}}\n",
    line="    const double {} = {};\n",
    comment="// {}: column {}\n",
    argument="double {}",
    nothing="void",
    helpers={  # fmin and fmax would take no notice of NaN
        "min": "static double least(double a, double b)\n"
        "{\n    return a < b || a != a ? a : b;\n}\n\n",
        "max": "static double greatest(double a, double b)\n"
        "{\n    return a > b || a != a ? a : b;\n}\n\n",
    },
    reserved="[A-Z][A-Z0-9_]+|" + _C_WORDS.replace(" ", "|"),  # capitals may be macros
)

SQL = Target(
    title="SQL",
    templates=_SIGNS
    | {name: template.upper() for name, template in _calls(log="ln").items()}
    | {"div": "1.0*#1/#2"}  # columns may be whole numbers
    | {"pow": "POWER(#1, #2)", "square": "POWER(#1, 2.0)", "cube": "POWER(#1, 3.0)"},
    infinity="NULL",
    undefined="NULL",
    frame="{result}",
    longest=1_000_000,
)

EXCEL = Target(
    title="Excel",
    templates=_SIGNS
    | {name: template.upper() for name, template in _calls(log="ln").items()}
    | {"pow": "#1^#2", "square": "#1^2", "cube": "#1^3"},
    infinity="NA()",
    undefined="NA()",
    frame="={result}",
    # There -x^2 is (-x)^2, and powers group to the left.
    needs={"neg": (ATOM,), "pow": (ATOM, ATOM)},
    longest=8192,
)

TARGETS: dict[str, Target] = {
    "python": PYTHON,
    "c": C,
    "sql": SQL,
    "excel": EXCEL,
    "torch": TORCH,
    "jax": JAX,
}
