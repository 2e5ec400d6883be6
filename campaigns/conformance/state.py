"""Reads the current records of the service, and creates records if there are too few."""

import copy
import itertools

import requests
import run

# Part of the names of this process: the records of an earlier process, which had another seed, may exist.
PROCESS = f"{run.SEED:x}"
COUNTER = itertools.count(1)
FEW = 20
# The host of a receiver must have an address that the service allows. Nothing listens there.
RECEIVER = "https://127.0.0.1:9/"

_known = {}
_session = requests.Session()
_session.trust_env = False
_session.verify = run.CA_FILE
_session.headers["Authorization"] = f"Bearer {run.ADMIN_KEY}"


def fresh_name(start):
    return f"{start}-{PROCESS}-{next(COUNTER)}"


def ids(plural):
    """Returns the ids of some existing records."""
    known = _known.setdefault(plural, [])
    while len(known) < FEW:
        response = _send("POST", f"/v1/{plural}", json=sample(plural))
        response.raise_for_status()
        known.append(response.json()["id"])
    return known


def deleted(plural, record_id):
    """Forgets a record; all of them if it was deleted by another address than that of its id."""
    _known[plural] = [known for known in _known.get(plural, []) if record_id not in (None, str(known), known)]


def record(path, fields):
    """Returns the record at this path and its ETag; None if there is none."""
    response = _send("GET", path, params={"fields": fields} if fields else None)
    return (response.json(), response.headers.get("ETag", "*")) if response.status_code == 200 else None


def free(plural, field, value, for_id):
    """Frees a value of a unique field: gives another value to the record that has it, unless that is `for_id`."""
    path = f"/v1/{plural}"
    for holder in _send("GET", path, params={field: value, "fields": "id"}).json():
        if str(holder["id"]) != str(for_id):
            _send("PATCH", f"{path}/{holder['id']}", json={field: sample(plural)[field]})


def next_cursor(path, query):
    """Returns the cursor behind the first record that matches the query; None if no record follows."""
    response = _send("GET", path, params={**query, "limit": "1"})
    link = response.links.get("next", {}).get("url", "")
    return requests.utils.urlparse(link).query.rpartition("cursor=")[2].partition("&")[0] or None


def _send(method, path, **options):
    return _session.request(method, run.URL + path, timeout=120, **options)


def sample(plural):
    """Returns a new valid body: unique values are fresh, and references name existing records."""
    resource = run.RESOURCES[plural]
    body = copy.deepcopy(resource["sample"])
    for field in resource["unique"]:
        body[field] = f"{fresh_name('x')}-{body[field]}"
    if plural == "webhooks":
        body |= {"url": RECEIVER, "status": "paused"}
    refer_to_records(body, resource["references"])
    return body


def refer_to_records(body, references):
    """Makes each reference name an existing record; those in the elements of a list name different ones."""
    for reference in references:
        name, *inside = reference["path"]
        if name not in body:
            continue
        known = ids(reference["to"])
        if not inside:
            body[name] = known[int(body[name]) % len(known)]
        else:
            body[name] = [
                {**element, inside[0]: one} for element, one in zip(body[name], known, strict=False)
            ]
