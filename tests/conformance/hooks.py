"""How schemathesis is told what the OpenAPI document has no words for; what is not counted is in `filter_failure`, with reasons."""

import zlib

import access
import addresses  # noqa: F401
import bodies
import lines
import run
import schemathesis
import state
import truth

TYPES = ("application/problem+json", "*/*", "application/json")


@schemathesis.hook
def before_call(context, case, kwargs):
    truth.spare_own_keys(case)
    if case.meta is None:
        return
    truth.write_headers_out(case)
    truth.repair_tags(case)
    lines.write_out(case)
    _ask_for_other_types(case)
    _leave_the_address_after_a_wrong_credential(case)
    if not case.meta.generation.mode.is_positive:
        bodies.remove_nothing(case)
    # What is negative in nothing but a name that nobody reads, as headers may be, is positive by now.
    if case.meta.generation.mode.is_positive:
        truth.make_true(case)


@schemathesis.hook
def after_call(context, case, response):
    if case.method == "DELETE" and response.status_code == 204:
        state.deleted(truth.plural_of(case), int(case.path_parameters["id"]))


@schemathesis.serializer(lines.TYPE)
def send_lines(context, value):
    return {"data": value.encode()}


@schemathesis.deserializer(lines.TYPE)
def read_lines(context, response):
    return response.content.decode()


@schemathesis.check
def access_as_documented(ctx, response, case):
    access.judge(response, case)


@schemathesis.check
def token_for_a_client(ctx, response, case):
    access.judge_token(response, case)


@schemathesis.check
def lines_as_documented(ctx, response, case):
    lines.judge(response, case)


@schemathesis.check
def minimum_as_preferred(ctx, response, case):
    """RFC 7240 section 4.2: what says that the preference was applied has no body."""
    if _is_minimal(response) and (response.content or "content-type" in response.headers):
        raise AssertionError("return=minimal was applied, and there is a body")


@schemathesis.hook
def filter_failure(context, failure, case, response):
    return not (_is_about_an_absent_body(failure, response) or _is_about_access_before_method(failure, case, response))


def _is_about_an_absent_body(failure, response):
    """
    OpenAPI cannot say of one status that its body may be absent: a creation answers 201 with the record, and under
    `Prefer: return=minimal` without. That there is none then is judged by `minimum_as_preferred`.
    """
    is_about_the_body = failure.code in ("ST104", "ST109")
    return is_about_the_body and response.status_code == 201 and _is_minimal(response) and not response.content


def _is_about_access_before_method(failure, case, response):
    """
    At an address that needs a credential an undeclared method is 401 without one, which `unsupported_method` knows; but it
    looks at the operation by which it came upon the method, and where that is OPTIONS, which needs none, it wants 405
    (schemathesis 4.32, `declares_security`). Which status is right is judged by `access_as_documented`.
    """
    is_about_the_method = failure.code == "ST204" and access.is_undeclared_method(case)
    return is_about_the_method and response.status_code == 401 == access.expected_refusal(case)


def _is_minimal(response):
    return response.headers.get("preference-applied") == ["return=minimal"]


def _ask_for_other_types(case):
    """`Accept` is no parameter in OpenAPI; the types of the answers are to be seen nevertheless."""
    if "Accept" not in case.headers:
        headers = case.headers.copy()
        types = _types_of(case)
        headers["Accept"] = types[_number_of(case) % len(types)]
        case.headers = headers


def _types_of(case):
    """Those of errors, and lines where there are any; of what comes as nothing of that sort, as a page does, any."""
    operations = case.operation.schema.raw_schema["paths"][case.path]
    operation = operations.get("get" if case.method == "HEAD" else case.method.lower(), {})
    success = operation.get("responses", {}).get("200", {}).get("content", TYPES)
    if "application/json" not in success and lines.TYPE not in success:
        return ("*/*",)
    return TYPES if lines.schema_of_each(case, 200) is None else (*TYPES, lines.TYPE)


def _number_of(case):
    """Alike for the same request, so that a failure comes again."""
    return zlib.crc32(f"{case.method} {case.path_parameters} {case.query}".encode())


def _leave_the_address_after_a_wrong_credential(case):
    if case.headers.get("Authorization", run.KEY) != f"Bearer {run.KEY}":
        case.headers["Connection"] = "close"
