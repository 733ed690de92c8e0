import os

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=60, suppress_health_check=SLOW
)
# More examples and new ones each time: HYPOTHESIS_PROFILE=deep pytest
settings.register_profile("deep", deadline=None, max_examples=2000, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
