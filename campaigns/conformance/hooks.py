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

TYPES = ("*/*", "application/json")


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
        bodies.drop_nulls_for_no_value(case)
    valid_requests.name_required_fields(case)
    # If only a name was invalid that the service ignores, such as that of a header, the request is valid now.
    if case.meta.generation.mode.is_positive:
        valid_requests.make_valid(case)


@schemathesis.hook
def after_call(context, case, response):
    if case.method == "DELETE" and response.status_code == 204:
        state.deleted(valid_requests.plural_of(case), case.path_parameters.get("id"))


@schemathesis.serializer(lines.TYPE, lines.CSV)
def send_text(context, value):
    return value.encode()


@schemathesis.deserializer(lines.TYPE)
def read_lines(context, response):
    return response.content.decode()


@schemathesis.deserializer(lines.CSV)
def read_csv(context, response):
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
def errors_as_documented(ctx, response, case):
    """The code of an error is among those of the operation or of every request. `default` stands for any status."""
    if response.status_code < 400 or access.is_undeclared_method(case):
        return
    document = case.operation.schema.raw_schema
    codes = [*case.operation.definition.raw["x-error-codes"], *document["x-error-codes"], "not_found"]
    if response.json()["code"] not in codes:
        raise AssertionError(f"{response.json()['code']} is not a code of {case.operation.label}")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    return not (
        _is_about_access_before_method(failure, case, response) or _is_about_the_credential_of_the_run(failure)
    )


def _is_about_the_credential_of_the_run(failure):
    """
    Requests "without" the header Authorization still have the one of `--header`. The caller `nobody` sends none, and
    `access_as_documented` checks every response to it.
    """
    return failure.code == "ST203" and "'Authorization'" in failure.message


def _is_about_access_before_method(failure, case, response):
    """
    On a path that needs a credential, an undeclared method without a credential gets 401. `unsupported_method` allows
    this only if it finds a credential in the security of the operation that it started from (schemathesis 4.32,
    `declares_security`). `access_as_documented` checks the status.
    """
    is_about_the_method = failure.code == "ST204" and access.is_undeclared_method(case)
    return is_about_the_method and response.status_code == 401 == access.expected_refusal(case)


def _vary_accepted_types(case):
    """Sets `Accept`, which is no parameter in OpenAPI, so that responses of all media types are tested."""
    if "Accept" not in case.headers:
        headers = case.headers.copy()
        types = _types_of(case)
        headers["Accept"] = types[_number_of(case) % len(types)]
        case.headers = headers


def _types_of(case):
    """
    Returns the types of errors, and NDJSON and CSV if they are documented; any type for other documents, such as a web
    page. The document describes `application/problem+json` only in its introduction.
    """
    operations = case.operation.schema.raw_schema["paths"][case.path]
    operation = operations.get(case.method.lower(), {})
    success = operation.get("responses", {}).get("200", {}).get("content", TYPES)
    has_other_types = set(success) - {*TYPES, lines.TYPE, lines.CSV}
    if has_other_types or not success:
        return ("*/*",)
    return (*TYPES, *(type for type in (lines.TYPE, lines.CSV) if type in success))


def _number_of(case):
    """Returns the same number for the same request, so that failures are reproducible."""
    return zlib.crc32(f"{case.method} {case.path_parameters} {case.query}".encode())


def _close_after_a_wrong_credential(case):
    """The next connection has another IP address; see `addresses`."""
    if case.headers.get("Authorization", run.KEY) != f"Bearer {run.KEY}":
        case.headers["Connection"] = "close"
