import re

import pytest

from symgrad.language.table import BUILTINS
from symgrad.language.targets import CALLS, TARGETS, WRITTEN_OUT

NAMES = {p.name for p in BUILTINS}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("primitive", BUILTINS, ids=lambda p: p.name)
def test_every_target_has_a_rule_for_every_primitive(kind, primitive):
    template = TARGETS[kind].templates.get(primitive.name)
    if template is None:
        assert WRITTEN_OUT[primitive.name] is not None
    else:  # each argument once: what stands twice would double with every level of a tree
        slots = [f"#{k + 1}" for k in range(primitive.arity)]
        assert sorted(re.findall("#.", template)) == slots


def test_no_rule_is_for_a_primitive_that_is_not_there():
    assert set(CALLS) <= NAMES
    assert set(WRITTEN_OUT) <= NAMES
    for target in TARGETS.values():
        assert {*target.templates, *target.helpers, *target.needs} <= NAMES
