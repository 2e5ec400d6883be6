"""Uses the client of openapi-python-client."""

import os
import re
import ssl
from urllib.parse import unquote

from catalogue import AuthenticatedClient
from catalogue.api.products import (
    create_product,
    delete_product,
    get_product,
    list_products,
    patch_product,
    replace_product,
)
from catalogue.models import (
    Error,
    PriceInput,
    Product,
    ProductInput,
    ProductInputAttributes,
    ProductPatch,
    ProductReplacement,
)

client = AuthenticatedClient(
    base_url=os.environ["CATALOGUE_URL"],
    token=os.environ["CATALOGUE_TOKEN"],
    verify_ssl=ssl.create_default_context(cafile=os.environ["CATALOGUE_CA"]),
)

with client:
    created = []
    for index, name in enumerate(["opc lamp", "opc lamp", "opc chair"]):
        body = ProductInput(
            name=name,
            sku=f"opc-{index}",
            price=PriceInput(amount=4990, currency="EUR"),
            attributes=ProductInputAttributes.from_dict({"colour": "green", "watts": 7.5, "dimmable": True}),
        )
        product = create_product.sync(client=client, body=body, idempotency_key=f"opc-{index}")
        assert isinstance(product, Product), product
        created.append(product)

    first = list_products.sync_detailed(client=client, sort=["name", "-id"], limit=2, name_prefix="opc ")
    cursor = re.search(r'[?&]cursor=([^&>]+)[^>]*>; rel="next"', first.headers["Link"])
    assert cursor and isinstance(first.parsed, list), first
    second = list_products.sync(client=client, sort=["name", "-id"], limit=2, name_prefix="opc ", cursor=unquote(cursor[1]))
    assert isinstance(second, list), second
    ids = [product.id for product in [*first.parsed, *second]]
    assert ids == [created[2].id, created[1].id, created[0].id], ids

    id = created[0].id
    patched = patch_product.sync_detailed(id, client=client, body=ProductPatch(description="Brass", sku=None))
    assert isinstance(patched.parsed, Product) and patched.parsed.description == "Brass", patched
    assert "sku" not in patched.parsed.to_dict(), patched.parsed

    replacement = ProductReplacement(name="opc desk lamp")
    stale = replace_product.sync_detailed(id, client=client, body=replacement, if_match='"1"')
    assert stale.status_code == 412 and isinstance(stale.parsed, Error), stale
    assert stale.parsed.code == "precondition_failed", stale.parsed
    replaced = replace_product.sync(id, client=client, body=replacement, if_match=patched.headers["ETag"])
    assert isinstance(replaced, Product) and replaced.name == "opc desk lamp", replaced

    assert delete_product.sync_detailed(id, client=client).status_code == 204
    assert get_product.sync_detailed(id, client=client).status_code == 404
