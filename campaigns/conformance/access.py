"""Checks that each caller can do exactly what its scopes allow by the OpenAPI document."""

import run
from schemathesis.core.failures import Failure
from schemathesis.generation.meta import CoverageScenario, coverage_scenario

# The service rejects these before it authenticates the caller: a message that is too large or cannot be read.
BEFORE_ACCESS = (408, 413, 414, 431)


def expected_refusal(case):
    """Returns the status that denies access, even if the request has other errors; None if access is granted."""
    if is_undeclared_method(case):
        return 401 if run.CALLER == "nobody" and _is_guarded(case) else None
    required = _required_scopes(case.operation.definition.raw)
    if required is None:
        return None
    if run.CALLER == "nobody":
        return 401
    return None if required <= run.SCOPES else 403


def check_token(response, case):
    """
    An existing client gets a token. `valid_requests` puts such clients into valid requests; `positive_data_acceptance`
    would accept 401 too.
    """
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_valid and case.path == "/oauth/token" and case.method == "POST" and response.status_code != 200:
        raise _failure(case, f"a client with its secret got {response.status_code} instead of a token")


def is_undeclared_method(case):
    return coverage_scenario(case) == CoverageScenario.UNSPECIFIED_HTTP_METHOD


def _is_guarded(case):
    """Returns whether any operation of this path needs a credential."""
    operations = case.operation.schema.raw_schema["paths"][case.path].values()
    return any(_required_scopes(operation) for operation in operations if isinstance(operation, dict))


def _required_scopes(operation):
    """Returns None if the operation needs no credential."""
    scopes = operation.get("x-scopes")
    return frozenset(scopes) if scopes else None


def check(response, case):
    if response.request.headers.get("Authorization", "") != (f"Bearer {run.KEY}" if run.KEY else ""):
        return
    refusal = expected_refusal(case)
    status = response.status_code
    is_known_path = not (status == 404 and case.meta is not None and case.meta.is_negative_at("path"))
    if refusal is None and status in (401, 403):
        raise _failure(case, f"{run.CALLER} may do this, and was refused with {status}")
    if refusal is not None and is_known_path and status not in (refusal, *BEFORE_ACCESS):
        raise _failure(case, f"{run.CALLER} may not do this, and got {status} instead of {refusal}")


def _failure(case, message):
    return Failure(operation=case.operation.label, title="Access is not as documented", message=message)
