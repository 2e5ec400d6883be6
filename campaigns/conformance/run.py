"""The environment of this run, which stateful-service.ts and schemathesis.ts set."""

import json
import os

URL = os.environ["CONFORMANCE_URL"]
CA_FILE = os.environ["CONFORMANCE_CA_FILE"]
# The caller of the tested requests: `administrator`, `reader` or `nobody`.
CALLER = os.environ["CONFORMANCE_CALLER"]
# The key and the scopes of the caller. The key of `nobody` is empty.
KEY = os.environ["CONFORMANCE_KEY"]
SCOPES = frozenset(os.environ["CONFORMANCE_SCOPES"].split())
# A key with every scope, and its id. It reads and prepares records, and gets tokens.
ADMIN_KEY = os.environ["CONFORMANCE_ADMIN_KEY"]
ADMIN_KEY_ID = os.environ["CONFORMANCE_ADMIN_KEY_ID"]
# The ids of the keys that this run needs.
OWN_KEY_IDS = frozenset(os.environ["CONFORMANCE_OWN_KEY_IDS"].split())
SEED = int(os.environ["CONFORMANCE_SEED"])
# What the field tables say of each resource, by the noun in its path. See campaigns/conformance/conformance-resources.ts.
RESOURCES = json.loads(os.environ["CONFORMANCE_RESOURCES"])
