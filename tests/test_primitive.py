import itertools

import numpy as np
import pytest
from strategies import DEFINITIONS

from symgrad import PrimitiveSet, Tree
from symgrad.language.primitive import ATOM, CONSTANT, FIRST_COMPOSED
from symgrad.language.table import BUILTINS, CODE_OF

NASTY = [0.0, -0.0, 1e-12, -1e-12, 1.0, -1.0, 1e8, -1e8]
ORDINARY = [-3.5, -2.0, -0.7, 0.3, 0.5, 2.0, 3.0, 20.0]
ALL = [*PrimitiveSet(DEFINITIONS[:1]).extend(*[p.name for p in BUILTINS], *DEFINITIONS[1:])]

each = pytest.mark.parametrize("primitive", ALL, ids=lambda p: p.name)


def grid(primitive, points):
    return np.array(list(itertools.product(points, repeat=primitive.arity))).T


@each
def test_smooth_is_finite_everywhere(primitive):
    with np.errstate(over="ignore", under="ignore"):  # of a sigmoid's exponential
        value = primitive.smooth(np, *grid(primitive, NASTY))
    assert np.isfinite(value).all()


@each
def test_smooth_is_close_to_the_definition_inside_its_domain(primitive):
    args = grid(primitive, [0.3, 0.5, 0.9, 2.0, 3.0])
    inside = np.broadcast_to(primitive.domain(np, *args), args.shape[1:])
    args = args[:, inside]
    exact, smooth = primitive.define(np, *args), primitive.smooth(np, *args)
    assert args.size
    assert np.allclose(smooth, exact, rtol=0.05, atol=0.02)


@each
def test_the_domain_is_where_the_definition_is_finite(primitive):
    args = grid(primitive, NASTY + ORDINARY)
    with np.errstate(all="ignore"):
        inside = np.broadcast_to(primitive.domain(np, *args), args.shape[1:])
        value = primitive.define(np, *args)
    overflow = np.isinf(value) & inside & (np.abs(args).max(axis=0) == 1e8)
    assert np.array_equal(inside[~overflow], np.isfinite(value[~overflow]))


@each
def test_definitions_broadcast(primitive):
    args = grid(primitive, [0.3, 0.5, 0.9])
    with np.errstate(all="ignore"):
        one_by_one = [float(primitive.define(np, *(float(a) for a in column))) for column in args.T]
    assert np.allclose(primitive.define(np, *args), one_by_one, equal_nan=True)


@each
def test_commutative_means_that_arguments_may_be_swapped(primitive):
    if primitive.arity == 2:
        a, b = grid(primitive, [0.3, 0.5, 2.0, -1.0])
        with np.errstate(all="ignore"):
            there, back = primitive.define(np, a, b), primitive.define(np, b, a)
        same = np.allclose(there, back, equal_nan=True)
        # a user's primitive may commute without saying so
        assert same if primitive.commutative else not same or primitive.body is not None


@each
def test_templates_have_a_slot_for_each_argument(primitive):
    slots = [f"#{k + 1}" for k in range(primitive.arity)]
    for template in (primitive.text, primitive.tex):
        assert all(template.count(s) == 1 for s in slots)
        assert f"#{primitive.arity + 1}" not in template
    assert len(primitive.needs) == primitive.arity
    assert 1 <= primitive.level <= ATOM


@each
def test_text_and_call_are_the_same_function(primitive):
    names = ["a", "b"][: primitive.arity]
    text = primitive.text.replace("#1", "a").replace("#2", "b")
    primitives = PrimitiveSet([p.name for p in BUILTINS] + list(DEFINITIONS))
    call = f"{primitive.name}({', '.join(names)})"
    assert Tree.parse(text, names, primitives) == Tree.parse(call, names, primitives)


def test_codes_leave_room_for_the_users_own():
    assert len(BUILTINS) <= FIRST_COMPOSED
    assert np.iinfo(np.int32).min == CONSTANT
    assert all(BUILTINS[c].name == n or BUILTINS[c].symbol == n for n, c in CODE_OF.items())
    assert len({p.name for p in BUILTINS}) == len(BUILTINS)


def test_repr_names_the_primitive():
    assert repr(BUILTINS[CODE_OF["+"]]) == "<Primitive add/2>"
