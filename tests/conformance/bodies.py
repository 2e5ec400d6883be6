"""What bodies say of the records that there are."""

import json

import run
import state
from schemathesis.core import NotSet

STORED = ("id", "version", "createdAt", "updatedAt")
MAX_ATTRIBUTES = 50
PATCHES = {"/v1/products/{id}": "ProductPatch", "/v1/users/{id}": "UserPatch", "/v1/orders/{id}": "OrderPatch"}
PRICE = {"amount": 1, "currency": "EUR"}


def make_true(case, plural):
    if isinstance(case.body, NotSet):
        return
    if case.media_type == "application/x-ndjson":
        case.body = _lines(case.body, plural)
    elif case.media_type == "application/json-patch+json":
        case.body = [_applicable(operation, plural) for operation in case.body]
    elif isinstance(case.body, dict):
        case.body = _true(dict(case.body), case, plural)


def make_form_true(case):
    """A client that exists, with its secret, which asks for what it has."""
    scope = {"scope": "products:read orders:write"} if "scope" in case.body else {}
    client = {"client_id": run.LOOKING_KEY_ID, "client_secret": run.LOOKING_KEY}
    case.body = {**case.body, **scope, **client}


def remove_nothing(case):
    """
    A null in a merge patch removes, and what is not there is removed already (RFC 7396 section 2): no fault, whatever its name
    is. The document invites nobody to it, for types made of it would no longer find a misspelt field; so nulls of names
    that it does not know go, and what is left is what is judged.
    """
    if case.method == "PATCH" and case.path in PATCHES and isinstance(case.body, dict):
        whole = case.operation.schema.raw_schema["components"]["schemas"]
        body = _without_unknown_nulls(case.body, whole[PATCHES[case.path]])
        if body != case.body:
            case.body = body


def _without_unknown_nulls(body, schema):
    known = schema.get("properties", {})
    kept = {}
    for name, value in body.items():
        its = _object_schema(known.get(name, {}))
        if isinstance(value, dict) and "properties" in its:
            kept[name] = _without_unknown_nulls(value, its)
        elif isinstance(value, dict) and name == "attributes":
            kept[name] = {key: each for key, each in value.items() if each is not None}
        elif value is not None or name in known or name == "__proto__":
            kept[name] = value
    return kept


def _object_schema(schema):
    """Of a field that null removes, what it is otherwise."""
    return next((one for one in schema.get("anyOf", []) if one.get("type") == "object"), schema)


def _true(body, case, plural):
    if "{id}" in case.path:
        _come_back_as_stored(body, case, plural)
    if plural == "orders":
        _refer_to_records(body)
    if plural == "api-keys" and "expiresAt" in body:
        body["expiresAt"] = _to_come(body["expiresAt"])
    for field in ("sku", "email"):
        if isinstance(body.get(field), str):
            state.free(plural, field, body[field], case.path_parameters.get("id"))
    return body


def _come_back_as_stored(body, case, plural):
    """What the service gives may come back, as it was given; a merge patch adds to what is there."""
    seen = state.record(case.formatted_path, ",".join(STORED))
    if seen is None:
        return
    body.update({name: seen[0][name] for name in STORED if name in body})
    if plural == "products" and case.method == "PATCH":
        stored, _ = state.record(case.formatted_path, "") or ({}, "")
        _complete_price(body, stored)
        _few_attributes(body, stored)


def _complete_price(body, stored):
    if isinstance(body.get("price"), dict):
        body["price"] = {**PRICE, **stored.get("price", {}), **body["price"]}


def _few_attributes(body, stored):
    patch = body.get("attributes")
    if isinstance(patch, dict):
        room = MAX_ATTRIBUTES - len(stored.get("attributes", {}))
        body["attributes"] = dict(list(patch.items())[: max(0, room)])


def _refer_to_records(body):
    """The user and the products exist, and no product is there twice."""
    if "userId" in body:
        body["userId"] = _one_of(state.ids("users"), body["userId"])
    if "items" in body:
        products = state.ids("products")
        body["items"] = [
            {**item, "productId": product} for item, product in zip(body["items"], products, strict=False)
        ]


def _one_of(ids, number):
    return ids[int(number) % len(ids)]


def _to_come(instant):
    """In a leap year, so that every day of it exists."""
    return f"2096{instant[4:]}"


def _lines(text, plural):
    """A good line before whatever was drawn; each has its own result."""
    return f"{json.dumps(state.SAMPLES[plural]())}\n{text}"


def _applicable(operation, plural):
    """By its own verb, on a record of which nothing is known but that it has its required fields."""
    operation = _without_proto(operation)
    name = operation["op"]
    field, value = ("userId", state.ids("users")[0]) if plural == "orders" else ("name", state.fresh_name("Torch"))
    if name in ("add", "replace"):
        return {**operation, "path": f"/{field}", "value": value}
    if name in ("move", "copy"):
        return {**operation, "from": f"/{field}", "path": f"/{field}"}
    # `remove` of what is required would leave no record, `test` needs to know: both of what was just put there.
    return {**operation, "op": "add", "path": f"/{field}", "value": value}


def _without_proto(value):
    """No object of a body may have such a member. Of any JSON a schema could say so by referring to itself alone, which
    makers of types for TypeScript cannot follow."""
    if isinstance(value, dict):
        return {name: _without_proto(each) for name, each in value.items() if name != "__proto__"}
    return [_without_proto(each) for each in value] if isinstance(value, list) else value
