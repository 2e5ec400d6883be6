"""What the service holds right now, and what it is given where it holds too little."""

import itertools
import secrets

import requests
import run

# Of this process: another one may have been here before.
PROCESS = secrets.token_hex(3)
COUNTER = itertools.count(1)
FEW = 20

_known = {}
_session = requests.Session()
_session.trust_env = False
_session.verify = run.CA_FILE
_session.headers["Authorization"] = f"Bearer {run.LOOKING_KEY}"


def fresh_name(start):
    return f"{start}-{PROCESS}-{next(COUNTER)}"


def ids(plural):
    """Those of some of the records that there are."""
    known = _known.setdefault(plural, [])
    while len(known) < FEW:
        answer = _ask("POST", f"/v1/{plural}", json=SAMPLES[plural]())
        answer.raise_for_status()
        known.append(answer.json()["id"])
    return known


def deleted(plural, record_id):
    known = _known.get(plural, [])
    if record_id in known:
        known.remove(record_id)


def record(path, fields):
    """The item at this path as it is, with its tag; None where there is none."""
    answer = _ask("GET", path, params={"fields": fields} if fields else None)
    return (answer.json(), answer.headers.get("ETag", "*")) if answer.status_code == 200 else None


def free(plural, field, value, for_id):
    """What may be there once is taken from the record that has it, unless that is the one that is to have it."""
    path = f"/v1/{plural}"
    for holder in _ask("GET", path, params={field: value, "fields": "id"}).json():
        if str(holder["id"]) != str(for_id):
            _ask("PATCH", f"{path}/{holder['id']}", json={field: SAMPLES[plural]()[field]})


def next_cursor(path, query):
    """The cursor behind the first record that fits the query; None where nothing follows it."""
    answer = _ask("GET", path, params={**query, "limit": "1"})
    link = answer.links.get("next", {}).get("url", "")
    return requests.utils.urlparse(link).query.rpartition("cursor=")[2].partition("&")[0] or None


def _ask(method, path, **how):
    return _session.request(method, run.URL + path, timeout=30, **how)


def _order():
    return {"userId": ids("users")[0], "items": [{"productId": ids("products")[0], "quantity": 1}]}


SAMPLES = {
    "products": lambda: {"name": "Lamp", "sku": fresh_name("LAMP"), "attributes": {"colour": "green"}},
    "users": lambda: {"name": "Ann", "email": f"{fresh_name('ann')}@example.com"},
    "orders": _order,
    "api-keys": lambda: {"name": fresh_name("spare"), "scopes": ["products:read"]},
}
