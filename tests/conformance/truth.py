"""
Makes of a request that is right by its schemas one that is right by what the service holds, too, in what no schema can
say. A service that refuses it then is wrong, or the document is.
"""

import re

import bodies
import run
import state

TAGS = ("If-Match", "If-None-Match")
# Every so many requests are about records that do not exist.
ABSENT_ONE_IN = 8


def make_true(case):
    if case.path == "/oauth/token" and case.method == "POST":
        bodies.make_form_true(case)
    plural = plural_of(case)
    if plural is None:
        return
    if "{id}" in case.path:
        _name_a_record(case, plural)
    if "cursor" in case.query:
        _go_on_from_a_page(case)
    _name_the_present_tag(case)
    if "Idempotency-Key" in case.headers:
        _be_the_first(case)
    bodies.make_true(case, plural)


def spare_own_keys(case):
    """To revoke a key that the run lives on would end it; any other may be revoked."""
    if case.path == "/v1/api-keys/{id}" and str(case.path_parameters.get("id")) in run.OWN_KEY_IDS:
        case.path_parameters = {**case.path_parameters, "id": state.ids("api-keys")[0]}


def repair_tags(case):
    """
    Of a string in a header the coverage phase draws letters and digits only, and where a pattern wants more, as that
    of tags does, a request that is to be wrong elsewhere gets a `0` (schemathesis 4.32, `ensure_valid_headers_schema`):
    without this the tag would be refused and what is wrong elsewhere never looked at.
    """
    for name in TAGS:
        if case.headers.get(name) == "0" and case.meta.phase.data.parameter != name:
            _set_header(case, name, "*" if name == "If-Match" else '"0"')


def write_headers_out(case):
    """
    Schemathesis 4.32 draws values for headers from earlier answers, too, and hands them over as they are: numbers, and
    texts with line breaks, which no header can hold and its own client refuses to send.
    """
    written = {name: _written(value) for name, value in case.headers.items()}
    if written != dict(case.headers):
        case.headers = type(case.headers)(written)


def _written(value):
    return value if isinstance(value, bytes) else re.sub(r"[\r\n]", "", str(value)).lstrip()


def plural_of(case):
    found = re.match(r"/v1/([^/]+)", case.path)
    return found[1] if found and found[1] in state.SAMPLES else None


def _name_a_record(case, plural):
    """Links say themselves which record they mean."""
    if case.meta.phase.name.value == "stateful":
        return
    number = int(case.path_parameters["id"])
    ids = state.ids(plural)
    if number % ABSENT_ONE_IN and ids:
        case.path_parameters = {**case.path_parameters, "id": ids[number % len(ids)]}


def _go_on_from_a_page(case):
    """A cursor is good where it was given: in the same list, for the same sort and filters."""
    del case.query["cursor"]
    cursor = state.next_cursor(case.path, _as_sent(case.query))
    if cursor:
        case.query["cursor"] = cursor
    # The query is as good as it was. Schemathesis 4.32 would judge it anew, and take `attributes.colour` for a
    # parameter that is not declared, since it has forgotten whose member that is (style `form`, exploded).
    case._sync_validated_hashes()


def _as_sent(query):
    """Lists and objects as their parameters have them (style `form`)."""
    sent = {}
    for name, value in query.items():
        if isinstance(value, dict):
            sent.update(value)
        else:
            sent[name] = ",".join(map(str, value)) if isinstance(value, list) else value
    return sent


def _name_the_present_tag(case):
    """A precondition holds as long as nobody else writes."""
    if case.method in ("GET", "HEAD"):
        return
    if "If-Match" in case.headers:
        seen = state.record(case.formatted_path, "")
        _set_header(case, "If-Match", seen[1] if seen else "*")
    if "If-None-Match" in case.headers:
        _set_header(case, "If-None-Match", '"0"')


def _be_the_first(case):
    """A key that was used for another body is refused, and one that was used for this brings no new record."""
    number = state.fresh_name("")
    key = str(case.headers["Idempotency-Key"])
    _set_header(case, "Idempotency-Key", key[: 255 - len(number)] + number)


def _set_header(case, name, value):
    headers = case.headers.copy()
    headers[name] = value
    case.headers = headers
