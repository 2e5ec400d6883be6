"""Uses the client of `openapi-generator -g python`."""

import os
import re
from collections.abc import Mapping
from urllib.parse import unquote

from catalogue import ApiClient, ApiException, Configuration, PriceInput, ProductInput, ProductPatch, ProductReplacement
from catalogue import ProductsApi


def header(headers: Mapping[str, str] | None, name: str) -> str:
    return headers[name] if headers else ""


configuration = Configuration(host=os.environ["CATALOGUE_URL"], access_token=os.environ["CATALOGUE_TOKEN"])
configuration.ssl_ca_cert = os.environ["CATALOGUE_CA"]

with ApiClient(configuration) as client:
    products = ProductsApi(client)

    created = [
        products.create_product(
            ProductInput(
                name=name,
                sku=f"py-{index}",
                price=PriceInput(amount=4990, currency="EUR"),
                attributes={"colour": "green", "watts": 7.5, "dimmable": True},
            ),
            idempotency_key=f"py-{index}",
        )
        for index, name in enumerate(["py lamp", "py lamp", "py chair"])
    ]
    assert created[0].attributes == {"colour": "green", "watts": 7.5, "dimmable": True}, created[0]

    first = products.list_products_with_http_info(sort=["name", "-id"], limit=2, name_prefix="py ")
    cursor = re.search(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"', header(first.headers, "Link"))
    assert cursor, first.headers
    second = products.list_products(
        sort=["name", "-id"], limit=2, name_prefix="py ", cursor=unquote(cursor[1])
    )
    ids = [product.id for product in [*first.data, *second]]
    assert ids == [created[2].id, created[1].id, created[0].id], ids

    product = created[0]
    patched = products.patch_product_with_http_info(product.id, ProductPatch(description="Brass", sku=None))
    assert (patched.data.description, patched.data.sku) == ("Brass", None), patched.data

    replacement = ProductReplacement(name="py desk lamp")
    try:
        products.replace_product(product.id, replacement, if_match='"1"')
        raise AssertionError("a stale If-Match is accepted")
    except ApiException as error:
        assert error.status == 412 and error.data and error.data.code == "precondition_failed", error
    replaced = products.replace_product(product.id, replacement, if_match=header(patched.headers, "ETag"))
    assert (replaced.name, replaced.price) == ("py desk lamp", None), replaced

    products.delete_product(product.id)
    try:
        products.get_product(product.id)
        raise AssertionError("the product is still there")
    except ApiException as error:
        assert error.status == 404, error
