"""Makes bodies valid for the existing records."""

import json
from urllib.parse import unquote

import run
import state
from schemathesis.core import NotSet

STORED = ("id", "version", "createdAt", "updatedAt")
MAX_ATTRIBUTES = 50
PATCHES = {f"/v1/{plural}/{{id}}": resource["patch"] for plural, resource in run.RESOURCES.items()}
PRICE = {"amount": 1, "currency": "EUR"}
# A name or tag of these alone is refused. The document says so in words, because languages differ on what white space is.
WHITE_SPACE = "\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff "


def make_valid(case, plural):
    if isinstance(case.body, NotSet):
        return
    if case.media_type == "application/x-ndjson":
        case.body = _lines(case.body, plural)
    elif case.media_type == "text/csv":
        case.body = _csv(case.body, plural, case.query.get("match"))
    elif case.media_type == "application/json-patch+json":
        case.body = [_applicable(operation, plural) for operation in case.body]
    elif isinstance(case.body, dict):
        case.body = _valid(dict(case.body), case, plural)


def make_form_valid(case):
    """
    Fills in an existing client with its secret, which requests scopes that it has. A form repeats the name of a list
    or an object, and a token request has no name twice (RFC 6749 section 3.2), which no schema of a form can say.
    """
    scope = {"scope": "products:read orders:write"} if "scope" in case.body else {}
    client = {"client_id": run.ADMIN_KEY_ID, "client_secret": run.ADMIN_KEY}
    once = {name: value for name, value in case.body.items() if not isinstance(value, (list, dict))}
    case.body = {**once, **scope, **client}


def drop_unknown_nulls(case):
    """
    Drops the nulls of unknown names from a merge patch. A null removes a field, and removing a missing field is no
    error (RFC 7396 section 2), so the service accepts every name. The document does not allow unknown names, because
    generated types would no longer find a misspelt field.
    """
    if case.method == "PATCH" and case.path in PATCHES and isinstance(case.body, dict):
        whole = case.operation.schema.raw_schema["components"]["schemas"]
        body = _without_unknown_nulls(case.body, whole[PATCHES[case.path]], whole)
        if body != case.body:
            case.body = body


def drop_nulls_for_no_value(case):
    """
    Drops each null that stands for no value. The document says so in words, because nullable types change the types of
    generated clients.
    """
    if case.method in ("POST", "PUT") and case.media_type == "application/json" and isinstance(case.body, dict):
        content = case.operation.definition.raw["requestBody"]["content"]
        whole = case.operation.schema.raw_schema["components"]["schemas"]
        body = _without_nulls(case.body, content[case.media_type]["schema"], whole)
        body = {name: value for name, value in body.items() if value is not None or name not in STORED}
        if body != case.body:
            case.body = body


def _without_nulls(value, schema, whole):
    schema = whole[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    if isinstance(value, list) and "items" in schema:
        return [_without_nulls(each, schema["items"], whole) for each in value]
    if not isinstance(value, dict):
        return value
    if "patternProperties" in schema:
        return {name: each for name, each in value.items() if each is not None}
    known, required = schema.get("properties", {}), schema.get("required", [])
    return {
        name: _without_nulls(each, known.get(name, {}), whole)
        for name, each in value.items()
        if each is not None or name not in known or name in required
    }


def _without_unknown_nulls(body, schema, whole):
    known = schema.get("properties", {})
    result = {}
    for name, value in body.items():
        field_schema = known.get(name, {})
        if isinstance(value, dict) and "properties" in field_schema:
            result[name] = _without_unknown_nulls(value, field_schema, whole)
        elif isinstance(value, list) and "items" in field_schema:
            result[name] = _without_nulls(value, field_schema, whole)
        elif isinstance(value, dict) and name == "attributes":
            result[name] = {key: each for key, each in value.items() if each is not None}
        elif value is not None or name in known or name == "__proto__":
            result[name] = value
    return result


def _valid(body, case, plural):
    resource = run.RESOURCES[plural]
    if "{" in case.path:
        _match_stored_record(body, case, plural)
    state.refer_to_records(body, resource["references"])
    for name in resource["notBlank"]:
        if name in body:
            body[name] = _not_blank(body[name])
    for name, *member in resource["distinct"]:
        if isinstance(body.get(name), list):
            body[name] = _distinct(body[name], member)
    if isinstance(body.get("gtin"), str):
        body["gtin"] = _with_check_digit(body["gtin"])
    if plural == "api-keys" and "expiresAt" in body:
        body["expiresAt"] = _in_the_future(body["expiresAt"])
    if "url" in body and plural == "webhooks":
        body["url"] = state.RECEIVER
    for field in resource["unique"]:
        if case.method == "PUT" and field in body and field in case.path_parameters:
            body[field] = unquote(case.path_parameters[field])
        elif isinstance(body.get(field), str):
            state.free(plural, field, body[field], case.path_parameters.get("id"))
    return body


def _not_blank(value):
    if isinstance(value, list):
        return [_not_blank(each) for each in value]
    return "x" if isinstance(value, str) and not value.strip(WHITE_SPACE) else value


def _distinct(elements, member):
    return list({each[member[0]] if member else each: each for each in elements}.values())


def _with_check_digit(gtin):
    """Replaces the last digit by the one that checks the others. No pattern can say which one it is."""
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(gtin[:-1])))
    return f"{gtin[:-1]}{-total % 10}"


def _match_stored_record(body, case, plural):
    """Sets read-only fields to the stored values, which the service accepts. Completes a merge patch of a product."""
    found = state.record(case.formatted_path, ",".join(STORED))
    if found is None:
        # By another address than that of an id, a PUT creates the record.
        for name in STORED:
            body.pop(name, None)
        return
    body.update({name: found[0][name] for name in STORED if name in body})
    if plural == "products" and case.method == "PATCH":
        stored, _ = state.record(case.formatted_path, "") or ({}, "")
        _complete_price(body, stored)
        _limit_attributes(body, stored)


def _complete_price(body, stored):
    if isinstance(body.get("price"), dict):
        body["price"] = {**PRICE, **stored.get("price", {}), **body["price"]}


def _limit_attributes(body, stored):
    patch = body.get("attributes")
    if isinstance(patch, dict):
        room = MAX_ATTRIBUTES - len(stored.get("attributes", {}))
        body["attributes"] = dict(list(patch.items())[: max(0, room)])


def _in_the_future(instant):
    """Moves an instant to a leap year, in which every day exists."""
    return f"2096{instant[4:]}"


def _lines(text, plural):
    """Adds a valid line before the generated ones. Each line has its own result."""
    return f"{json.dumps(state.sample(plural))}\n{text}"


def _csv(text, plural, key):
    """
    Adds a header row and a valid record before the generated text. Each record has its own result. The header row has
    the key by which records are matched.
    """
    values = {**({"id": str(state.ids(plural)[0])} if key == "id" else {}), **state.sample(plural)}
    names = [name for name, value in values.items() if isinstance(value, str)]
    return f"{','.join(names)}\n{','.join(values[name] for name in names)}\n{text}"


def _applicable(operation, plural):
    """Makes an operation applicable to every record, because only the required fields are known to exist."""
    operation = _without_proto(operation)
    name = operation["op"]
    field = run.RESOURCES[plural]["required"][0]
    value = state.sample(plural)[field]
    if name in ("add", "replace"):
        return {**operation, "path": f"/{field}", "value": value}
    if name in ("move", "copy"):
        return {**operation, "from": f"/{field}", "path": f"/{field}"}
    # A required field cannot be removed, and the value that `test` compares is not known: use `add` instead.
    return {**operation, "op": "add", "path": f"/{field}", "value": value}


def _without_proto(value):
    """
    Drops members named `__proto__`, which no object of a body may have. For arbitrary JSON only a recursive schema
    could say this, which generators of TypeScript types cannot handle.
    """
    if isinstance(value, dict):
        return {name: _without_proto(each) for name, each in value.items() if name != "__proto__"}
    return [_without_proto(each) for each in value] if isinstance(value, list) else value
