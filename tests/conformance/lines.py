"""Lines of JSON, of which the document says what each is (`contentSchema`); schemathesis looks at no such thing."""

import json

import jsonschema_rs
from schemathesis.core import NotSet
from schemathesis.core.failures import Failure

TYPE = "application/x-ndjson"


def write_out(case):
    """A body that is none of lines cannot be sent as such: what is drawn instead is the text of one line, good or bad."""
    if case.media_type == TYPE and not isinstance(case.body, (str, NotSet)):
        case.body = json.dumps(case.body)


def judge(response, case):
    if response.headers.get("content-type", [""])[0] != TYPE:
        return
    items = schema_of_each(case, response.status_code)
    if items is None:
        raise _failure(case, f"no {TYPE} is documented under {response.status_code}")
    text = response.content.decode()
    if case.method != "HEAD" and text and not text.endswith("\n"):
        raise _failure(case, "the last line has no end")
    validator = jsonschema_rs.validator_for(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", **items, "components": _components(case)}
    )
    # Not splitlines, which parts at U+2028 and others, too.
    for line in text.split("\n")[:-1]:
        for error in validator.iter_errors(json.loads(line)):
            raise _failure(case, f"{error.message} in {line}")


def schema_of_each(case, status):
    answer = case.operation.definition.raw["responses"].get(str(status), {})
    return answer.get("content", {}).get(TYPE, {}).get("schema", {}).get("contentSchema", {}).get("items")


def _components(case):
    return case.operation.schema.raw_schema["components"]


def _failure(case, message):
    return Failure(operation=case.operation.label, title="Lines are not as documented", message=message)
