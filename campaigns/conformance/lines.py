"""Checks NDJSON: the document has a schema of each line (`contentSchema`), which schemathesis does not read."""

import json

import jsonschema_rs
from schemathesis.core import NotSet
from schemathesis.core.failures import Failure

TYPE = "application/x-ndjson"
CSV = "text/csv"


def serialize(case):
    """Sends a body that is not a text as one line of JSON, valid or not."""
    if case.media_type in (TYPE, CSV) and not isinstance(case.body, (str, NotSet)):
        case.body = json.dumps(case.body)


def check(response, case):
    if response.headers.get("content-type", [""])[0] != TYPE:
        return
    items = schema_of_each(case, response.status_code)
    if items is None:
        raise _failure(case, f"no {TYPE} is documented under {response.status_code}")
    text = response.content.decode()
    if text and not text.endswith("\n"):
        raise _failure(case, "the last line has no end")
    validator = jsonschema_rs.validator_for(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **items, "components": _components(case)}
    )
    # Not splitlines, which also splits at U+2028 and other characters.
    for line in text.split("\n")[:-1]:
        for error in validator.iter_errors(json.loads(line)):
            raise _failure(case, f"{error.message} in {line}")


def schema_of_each(case, status):
    response = case.operation.definition.raw["responses"].get(str(status), {})
    return response.get("content", {}).get(TYPE, {}).get("schema", {}).get("contentSchema", {}).get("items")


def _components(case):
    return case.operation.schema.raw_schema["components"]


def _failure(case, message):
    return Failure(operation=case.operation.label, title="Lines are not as documented", message=message)
