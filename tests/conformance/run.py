"""What the runner says of this run."""

import os

URL = os.environ["CONFORMANCE_URL"]
CA_FILE = os.environ["CONFORMANCE_CA_FILE"]
# Whose requests are judged: `administrator`, `reader` or `nobody`.
CALLER = os.environ["CONFORMANCE_CALLER"]
# Theirs; nobody has none.
KEY = os.environ["CONFORMANCE_KEY"]
SCOPES = frozenset(os.environ["CONFORMANCE_SCOPES"].split())
# For looking at the state, and for getting tokens: a key with every scope, and its id.
LOOKING_KEY = os.environ["CONFORMANCE_LOOKING_KEY"]
LOOKING_KEY_ID = os.environ["CONFORMANCE_LOOKING_KEY_ID"]
# The keys that the run lives on.
OWN_KEY_IDS = frozenset(os.environ["CONFORMANCE_OWN_KEY_IDS"].split())
