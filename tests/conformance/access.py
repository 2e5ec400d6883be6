"""Whether callers may do what their scopes say, and nothing else, judged by the document's own words."""

import run
from schemathesis.core.failures import Failure
from schemathesis.generation.meta import CoverageScenario, coverage_scenario

# Before anyone asks who calls: a message that is too large or cannot be read.
BEFORE_ACCESS = (408, 413, 414, 431)


def expected_refusal(case):
    """The status that refuses whatever else is right or wrong with the request; None where access is given."""
    if is_undeclared_method(case):
        return 401 if run.CALLER == "nobody" and _is_guarded(case) else None
    needed = _needed_scopes(case.operation.definition.raw)
    if needed is None:
        return None
    if run.CALLER == "nobody":
        return 401
    return None if needed <= run.SCOPES else 403


def judge_token(response, case):
    """Of clients that exist, which `truth` puts into good requests; `positive_data_acceptance` wants no token for them."""
    is_good = case.meta is not None and case.meta.generation.mode.is_positive
    if is_good and case.path == "/oauth/token" and case.method == "POST" and response.status_code != 200:
        raise _failure(case, f"a client with its secret got {response.status_code} instead of a token")


def is_undeclared_method(case):
    return coverage_scenario(case) == CoverageScenario.UNSPECIFIED_HTTP_METHOD


def _is_guarded(case):
    """Whether some credential is needed to learn anything at this address."""
    operations = case.operation.schema.raw_schema["paths"][case.path].values()
    return any(_needed_scopes(operation) for operation in operations if isinstance(operation, dict))


def _needed_scopes(operation):
    """None where nothing is needed."""
    security = operation.get("security") or [{}]
    scopes = [scope for choice in security for scopes in choice.values() for scope in scopes]
    return None if {} in security or not scopes else frozenset(scopes)


def judge(response, case):
    if response.request.headers.get("Authorization", "") != (f"Bearer {run.KEY}" if run.KEY else ""):
        return
    refusal = expected_refusal(case)
    status = response.status_code
    is_address = not (status == 404 and case.meta is not None and case.meta.is_negative_at("path"))
    if refusal is None and status in (401, 403):
        raise _failure(case, f"{run.CALLER} may do this, and was refused with {status}")
    if refusal is not None and is_address and status not in (refusal, *BEFORE_ACCESS):
        raise _failure(case, f"{run.CALLER} may not do this, and got {status} instead of {refusal}")


def _failure(case, message):
    return Failure(operation=case.operation.label, title="Access is not as documented", message=message)
