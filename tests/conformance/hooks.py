"""
Hooks that tell schemathesis what OpenAPI cannot express. `filter_failure` lists the failures that do not count, with
reasons.
"""

import zlib

import access
import addresses  # noqa: F401
import bodies
import lines
import run
import schemathesis
import state
import valid_requests

TYPES = ("application/problem+json", "*/*", "application/json")


@schemathesis.hook
def before_call(context, case, kwargs):
    valid_requests.spare_own_keys(case)
    if case.meta is None:
        return
    valid_requests.serialize_headers(case)
    valid_requests.repair_tags(case)
    lines.serialize(case)
    _vary_accepted_types(case)
    _close_after_a_wrong_credential(case)
    if not case.meta.generation.mode.is_positive:
        bodies.drop_unknown_nulls(case)
    # If only a name was invalid that the service ignores, such as that of a header, the request is valid now.
    if case.meta.generation.mode.is_positive:
        valid_requests.make_valid(case)


@schemathesis.hook
def after_call(context, case, response):
    if case.method == "DELETE" and response.status_code == 204:
        state.deleted(valid_requests.plural_of(case), int(case.path_parameters["id"]))


@schemathesis.serializer(lines.TYPE)
def send_lines(context, value):
    return {"data": value.encode()}


@schemathesis.deserializer(lines.TYPE)
def read_lines(context, response):
    return response.content.decode()


@schemathesis.check
def access_as_documented(ctx, response, case):
    access.check(response, case)


@schemathesis.check
def token_for_a_client(ctx, response, case):
    access.check_token(response, case)


@schemathesis.check
def lines_as_documented(ctx, response, case):
    lines.check(response, case)


@schemathesis.check
def minimum_as_preferred(ctx, response, case):
    """RFC 7240 section 4.2: a response with `Preference-Applied: return=minimal` has no body."""
    if _is_minimal(response) and (response.content or "content-type" in response.headers):
        raise AssertionError("return=minimal was applied, and there is a body")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    return not (_is_about_an_absent_body(failure, response) or _is_about_access_before_method(failure, case, response))


def _is_about_an_absent_body(failure, response):
    """
    OpenAPI cannot say that the body of a status may be absent: a creation returns 201 with the record, and without it
    under `Prefer: return=minimal`. `minimum_as_preferred` checks that the body is absent then.
    """
    is_about_the_body = failure.code in ("ST104", "ST109")
    return is_about_the_body and response.status_code == 201 and _is_minimal(response) and not response.content


def _is_about_access_before_method(failure, case, response):
    """
    On a path that needs a credential, an undeclared method without a credential gets 401. `unsupported_method` allows
    this, but it reads the security of the operation that it started from: for OPTIONS, which needs no credential, it
    expects 405 (schemathesis 4.32, `declares_security`). `access_as_documented` checks the status.
    """
    is_about_the_method = failure.code == "ST204" and access.is_undeclared_method(case)
    return is_about_the_method and response.status_code == 401 == access.expected_refusal(case)


def _is_minimal(response):
    return response.headers.get("preference-applied") == ["return=minimal"]


def _vary_accepted_types(case):
    """Sets `Accept`, which is no parameter in OpenAPI, so that responses of all media types are tested."""
    if "Accept" not in case.headers:
        headers = case.headers.copy()
        types = _types_of(case)
        headers["Accept"] = types[_number_of(case) % len(types)]
        case.headers = headers


def _types_of(case):
    """Returns the types of errors, and NDJSON if it is documented; any type for other documents, such as a web page."""
    operations = case.operation.schema.raw_schema["paths"][case.path]
    operation = operations.get("get" if case.method == "HEAD" else case.method.lower(), {})
    success = operation.get("responses", {}).get("200", {}).get("content", TYPES)
    if "application/json" not in success and lines.TYPE not in success:
        return ("*/*",)
    return TYPES if lines.schema_of_each(case, 200) is None else (*TYPES, lines.TYPE)


def _number_of(case):
    """Returns the same number for the same request, so that failures are reproducible."""
    return zlib.crc32(f"{case.method} {case.path_parameters} {case.query}".encode())


def _close_after_a_wrong_credential(case):
    """The next connection has another IP address; see `addresses`."""
    if case.headers.get("Authorization", run.KEY) != f"Bearer {run.KEY}":
        case.headers["Connection"] = "close"
