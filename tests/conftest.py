import _thread
import importlib.util
import os
import signal
import threading
import time

import pytest
from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=SLOW
)
# More examples and new ones each time: HYPOTHESIS_PROFILE=deep pytest
settings.register_profile("deep", deadline=None, max_examples=2000, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A shell that starts the tests in the background has Ctrl-C ignored; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = []
if importlib.util.find_spec("jax") is None:
    collect_ignore += [
        f"test_{name}.py" for name in ("adam", "functions", "kernels", "score", "train")
    ]


def pytest_report_header():
    return (
        "JAX is not installed: the tests of the GPU engine are left out" if collect_ignore else ""
    )


@pytest.fixture
def press_ctrl_c():
    """Call it to have Ctrl-C pressed a moment later; what it returns tells the time since then."""
    pressed = []

    def press():
        time.sleep(0.3)
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    thread = threading.Thread(target=press)

    def start():
        thread.start()
        return lambda: time.perf_counter() - pressed[0]

    yield start
    thread.join()
