import numpy as np
import pytest

from symgrad.bench.task import Adapter, Limit, Task


@pytest.mark.parametrize(
    "limit", [Limit(10), Limit(0.5), Limit(evaluations=500_000), Limit(60, 1000)]
)
def test_limits_are_read_as_they_are_written(limit):
    assert Limit.parse(str(limit)) == limit


@pytest.mark.parametrize("wrong", [(), (0.0,), (None, -5), (float("nan"),)])
def test_a_limit_bounds_something(wrong):
    with pytest.raises(ValueError, match=r"positive|needs"):
        Limit(*wrong)


@pytest.mark.parametrize("text", ["", "ten s", "10 hours"])
def test_other_texts_are_no_limits(text):
    with pytest.raises(ValueError, match="limit"):
        Limit.parse(text)


def test_a_missing_package_says_what_to_install():
    adapter = Adapter(lambda task: {}, ("magic",), "pymagic", "pymagic.wands")
    with pytest.raises(ImportError, match=r'magic needs pymagic.*pip install "symgrad\[bench\]"'):
        adapter.check()
    assert adapter.version == "pymagic"
    assert Adapter(lambda task: {}, ("own",)).version.startswith("symgrad 0")


def test_the_formulas_of_the_paper_have_larger_populations():
    task = Task(np.zeros((2, 1)), np.zeros(2), Limit(1))
    assert task.population == 500
    assert Task(task.X, task.y, task.limit, synthetic=True).population == 1000
