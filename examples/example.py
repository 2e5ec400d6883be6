"""Imports, lists, creates and edits products with the standard library of Python 3.9 or later.

README.md describes the environment variables API_KEY, CATALOGUE_URL and CATALOGUE_CA.
"""

import hashlib
import json
import os
import re
import ssl
import sys
import time
import uuid
from contextlib import nullcontext
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

CATALOGUE_URL = os.environ.get("CATALOGUE_URL", "https://localhost:8443").rstrip("/")
PREFIX = urlsplit(CATALOGUE_URL).path
TLS = ssl.create_default_context(cafile=os.environ.get("CATALOGUE_CA"))
AUTHORIZATION = f"Bearer {os.environ['API_KEY']}"
ATTEMPTS = 5
TIMEOUT_SECONDS = 60
PROGRESS_EVERY = 5


class Refused(Exception):
    """A response whose status is an error; its body says why."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status = status


def address(path):
    """Returns the address of a path below CATALOGUE_URL, which may have a path itself: https://host/shop.

    A link has that path if the service knows it (PUBLIC_URL).
    """
    return CATALOGUE_URL + (path[len(PREFIX) :] if path.startswith(f"{PREFIX}/") else path)


def send(method, path, body=None, headers=None, read=json.load):
    """Sends a request, and returns what `read` makes of the response, and the headers of the response.

    Sends it again after a lost connection, and after 429 and 503 when the seconds in Retry-After have passed. That is
    safe because every request here reads, or has an If-Match or an Idempotency-Key.

    `body` is None, bytes, or the path of a file, which is streamed.
    """
    headers = {"Authorization": AUTHORIZATION, **(headers or {})}
    attempt = 1
    while True:
        try:
            with body.open("rb") if isinstance(body, Path) else nullcontext(body) as data:
                request = Request(address(path), data, headers, method=method)
                with urlopen(request, timeout=TIMEOUT_SECONDS, context=TLS) as response:
                    return read(response), response.headers
        except HTTPError as error:
            if error.code not in (429, 503) or attempt == ATTEMPTS:
                raise Refused(error.code, error.read().decode()) from None
            seconds = error.headers.get("Retry-After", "")  # A proxy may give a date instead.
            reason, wait_seconds = error.code, int(seconds) if seconds.isdecimal() else attempt
        except (OSError, HTTPException) as error:
            if attempt == ATTEMPTS:
                raise
            reason, wait_seconds = error, attempt
        print(f"{method} {path}: {reason}; again in {wait_seconds} s", file=sys.stderr)
        time.sleep(wait_seconds)
        attempt += 1


def import_products(file):
    """Sends a file of NDJSON, and prints the progress and each line that the service rejects.

    The key is a hash of the content: the same file, sent again, creates only what is missing.
    """
    key = hashlib.sha256(file.read_bytes()).hexdigest()
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
    send("POST", "/v1/products/imports", file, headers, read=print_results)


def print_results(response):
    lines = errors = 0
    for lines, text in enumerate(lines_of(response), start=1):
        result = json.loads(text)
        if "error" in result:
            errors += 1
            error = result["error"]
            why = " ".join(detail["message"] for detail in error["details"]) or error["message"]
            print(f"import: line {result['line']}: {result['status']} {error['code']}: {why}")
        if lines % PROGRESS_EVERY == 0:
            print(f"import: {lines} lines, errors: {errors}")
    print(f"import: finished, {lines} lines, errors: {errors}")


def lines_of(response):
    """Yields the lines of a response as they arrive.

    An iteration over the response itself would take a lost connection for its end.
    """
    rest = b""
    while block := response.read1():
        *lines, rest = (rest + block).split(b"\n")
        yield from lines


def pages(query):
    """Yields page after page of a list, led by the `next` of the Link header (RFC 8288)."""
    path = f"/v1/products?{urlencode(query)}"
    while path:
        page, headers = send("GET", path)
        yield page
        links = ", ".join(headers.get_all("Link", []))
        following = re.search(r'<([^>]*)>; rel="next"', links)
        path = following and following[1]


def create(product):
    """Creates a product once, however often the request is sent. Returns the product."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    created, _ = send("POST", "/v1/products", json.dumps(product).encode(), headers)
    return created


def edit(product_id, change):
    """Applies `change` to a product, and to its newest state if another client has changed it in between (412), at most
    five times.

    `change` sets values and does not add to them, because after a lost response it meets what it has written itself.
    Returns the product and its ETag.
    """
    path = f"/v1/products/{product_id}"
    attempt = 1
    while True:
        product, headers = send("GET", path)
        change(product)
        sent = {"Content-Type": "application/json", "If-Match": headers["ETag"]}
        try:
            edited, headers = send("PUT", path, json.dumps(product).encode(), sent)
            return edited, headers["ETag"]
        except Refused as refused:
            if refused.status != 412 or attempt == ATTEMPTS:
                raise
            print(f"PUT {path}: 412; another client was faster, reading it again", file=sys.stderr)
            attempt += 1


def main():
    import_products(Path("products.ndjson"))

    query = {
        "sku.prefix": "EX-",
        "price.currency": "EUR",
        "price.amount.gte": 5000,
        "sort": "name,-id",
        "limit": 3,
    }
    for page in pages(query):
        print("list:", ", ".join(product["name"] for product in page))

    lamp = create({"name": "Reading lamp", "price": {"amount": 3900, "currency": "EUR"}})
    print(f"create: {lamp['name']}, id {lamp['id']}")

    lamp, etag = edit(lamp["id"], lambda product: product["price"].update(amount=3500))
    print(f"edit: {lamp['name']}, {lamp['price']['amount']} {lamp['price']['currency']}, ETag {etag}")


if __name__ == "__main__":
    main()
