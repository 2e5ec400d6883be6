"""
Makes a request that is valid by its schemas also valid for the records of the service, which no schema can describe. If
the service refuses it then, the service or the document is wrong.
"""

import re
from unicodedata import normalize

import bodies
import run
import state

TAGS = ("If-Match", "If-None-Match")
# One in this many requests is about a record that does not exist.
ABSENT_ONE_IN = 8
MAX_WORDS = 10
MAX_FILTERS = 100
ATTRIBUTE = re.compile(r"attributes\[[0-9A-Za-z_ ]+\]")
NO_FILTERS = ("limit", "cursor", "sort", "fields", "prefix")


def make_valid(case):
    if case.path == "/oauth/token" and case.method == "POST":
        bodies.make_form_valid(case)
    plural = plural_of(case)
    if plural is None:
        return
    if "{id}" in case.path:
        _use_existing_id(case, plural)
    if "sort" in case.query:
        _sort_once_by_each_field(case)
    if case.path.endswith("/facets"):
        _name_each_facet_once(case)
    if "q" in case.query:
        _search_for_words(case)
    if case.method == "GET":
        _name_attributes(case)
        _limit_filters(case)
    if "cursor" in case.query:
        _use_valid_cursor(case)
    if case.path.endswith("/imports"):
        _match_or_create(case)
    _use_current_tag(case)
    if "Idempotency-Key" in case.headers:
        _use_unused_key(case)
    bodies.make_valid(case, plural)


def spare_own_keys(case):
    """Lets no request revoke a key that the run needs. Other keys may be revoked."""
    if case.path == "/v1/api-keys/{id}" and str(case.path_parameters.get("id")) in run.OWN_KEY_IDS:
        case.path_parameters = {**case.path_parameters, "id": state.ids("api-keys")[0]}


def repair_tags(case):
    """
    Replaces invalid tags in requests that should be wrong elsewhere. The coverage phase generates only letters and
    digits for headers, and `0` for a pattern that needs more, such as that of tags (schemathesis 4.32,
    `ensure_valid_headers_schema`). The service would refuse the tag and never read the part that should be wrong.
    """
    for name in TAGS:
        if case.headers.get(name) == "0" and case.meta.phase.data.parameter != name:
            _set_header(case, name, "*" if name == "If-Match" else '"0"')


def serialize_headers(case):
    """
    Makes header values sendable. Schemathesis 4.32 also takes values from earlier responses without conversion:
    numbers, and texts with line breaks, which its own client refuses to send.
    """
    serialized = {name: _serialized(value) for name, value in case.headers.items()}
    if serialized != dict(case.headers):
        case.headers = type(case.headers)(serialized)


def _serialized(value):
    return value if isinstance(value, bytes) else re.sub(r"[\r\n]", "", str(value)).lstrip()


def plural_of(case):
    found = re.match(r"/v1/([^/]+)", case.path)
    return found[1] if found and found[1] in run.RESOURCES else None


def _use_existing_id(case, plural):
    """Links have the id of a record already."""
    if case.meta.phase.name.value == "stateful":
        return
    number = int(case.path_parameters["id"])
    ids = state.ids(plural)
    if number % ABSENT_ONE_IN and ids:
        case.path_parameters = {**case.path_parameters, "id": ids[number % len(ids)]}


def _sort_once_by_each_field(case):
    """No field may appear twice, also not in both directions. The document says so in words."""
    keys = _elements(case.query["sort"])
    case.query["sort"] = list({key.removeprefix("-"): key for key in keys}.values())


def _name_each_facet_once(case):
    """No field may appear twice, and `prefix` is for one field. The document says so in words."""
    names = list(dict.fromkeys(_elements(case.query["fields"])))
    case.query["fields"] = names[:1] if "prefix" in case.query else names


def _search_for_words(case):
    """
    A search has at least one word and at most ten, of at most 64 characters after normalising. The document says so in
    words, because which characters beyond ASCII are letters depends on the version of Unicode.
    """
    text = str(case.query["q"])
    words = re.findall(r"[0-9A-Za-z]+", text)
    if text.isascii() and len(words) <= MAX_WORDS and all(len(word) <= 64 for word in words):
        return
    fitting = (end for end in range(len(text), -1, -1) if len(normalize("NFKD", text[:end])) < MAX_WORDS)
    case.query["q"] = f"{text[: next(fitting)]} a"


def _name_attributes(case):
    """Not every key can be written in brackets. Validators must not need to know which ones can."""
    given = case.query.pop("attributes", {})
    members = {f"attributes[{key}]": value for key, value in given.items()} if isinstance(given, dict) else {}
    for name in [name for name in case.query if name.startswith("attributes[")]:
        members[name] = case.query.pop(name)
    case.query.update({name: str(value) for name, value in members.items() if ATTRIBUTE.fullmatch(name)})


def _limit_filters(case):
    """A query has at most 100 filters. The document says so in words."""
    filters = [name for name in case.query if name not in NO_FILTERS]
    for name in filters[MAX_FILTERS:]:
        del case.query[name]


def _match_or_create(case):
    """
    `existing` needs `match`, `empty` needs CSV too, and an import that matches or writes nothing takes no
    Idempotency-Key. The document says so in words.
    """
    if "match" not in case.query:
        case.query.pop("existing", None)
    if "match" not in case.query or case.media_type != "text/csv":
        case.query.pop("empty", None)
    if "match" in case.query or "dryRun" in case.query:
        case.headers.pop("Idempotency-Key", None)


def name_required_fields(case):
    """
    Adds the names that the document demands. The service accepts fewer, and its response then lacks members that the
    schema requires.
    """
    schema = _schema_of(case, "fields")
    names = _elements(case.query.get("fields"))
    if schema and names and set(names) <= set(schema["items"].get("enum", [])):
        case.query["fields"] = list(dict.fromkeys([*names, *schema.get("contains", {"enum": []})["enum"]]))


def _schema_of(case, name):
    """Returns the schema of a parameter; None if the operation has no such parameter."""
    shared = case.operation.schema.raw_schema["components"]["parameters"]
    parameters = case.operation.definition.raw.get("parameters", [])
    found = (shared[one["$ref"].split("/")[-1]] if "$ref" in one else one for one in parameters)
    return next((one["schema"] for one in found if one["name"] == name), None)


def _elements(value):
    """Returns the elements of a list parameter, which schemathesis has serialized in some phases."""
    if isinstance(value, str):
        return value.split(",")
    return value if isinstance(value, list) and all(isinstance(each, str) for each in value) else []


def _use_valid_cursor(case):
    """A cursor is valid only for the list, sort and filters that it was returned for."""
    del case.query["cursor"]
    cursor = state.next_cursor(case.path, _as_sent(case.query))
    if cursor:
        case.query["cursor"] = cursor
    # The query is still valid. Schemathesis 4.32 would validate it again and take `attributes[colour]` for an undeclared
    # parameter, because it no longer knows that it is a member of `attributes`.
    case._sync_validated_hashes()


def _as_sent(query):
    """Serializes lists as their parameters require (style `form`)."""
    return {
        name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in query.items()
    }


def _use_current_tag(case):
    """Makes the preconditions of a write true."""
    if case.method == "GET":
        return
    if "If-Match" in case.headers:
        found = state.record(case.formatted_path, "")
        _set_header(case, "If-Match", found[1] if found else "*")
    if "If-None-Match" in case.headers:
        _set_header(case, "If-None-Match", '"0"')


def _use_unused_key(case):
    """The service refuses a key of another body, and a key that was used for this body creates no record."""
    number = state.fresh_name("")
    key = str(case.headers["Idempotency-Key"])
    _set_header(case, "Idempotency-Key", key[: 255 - len(number)] + number)


def _set_header(case, name, value):
    headers = case.headers.copy()
    headers[name] = value
    case.headers = headers
