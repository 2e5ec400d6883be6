// Uses the client of oapi-codegen.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"

	catalogue "example.test/generators/oapi_codegen/catalogue"
)

func main() {
	ca, err := os.ReadFile(os.Getenv("CATALOGUE_CA"))
	check(err == nil, err)
	roots := x509.NewCertPool()
	check(roots.AppendCertsFromPEM(ca), "no CA")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("CATALOGUE_TOKEN"))
		return nil
	}
	products, err := catalogue.NewClientWithResponses(
		os.Getenv("CATALOGUE_URL"),
		catalogue.WithHTTPClient(&http.Client{Transport: transport}),
		catalogue.WithRequestEditorFn(authorize),
	)
	check(err == nil, err)
	ctx := context.Background()

	var created []catalogue.Product
	for index, name := range []string{"oapi lamp", "oapi lamp", "oapi chair"} {
		input := catalogue.ProductInput{
			Name:       name,
			Sku:        pointer(fmt.Sprintf("oapi-%d", index)),
			Price:      &catalogue.PriceInput{Amount: 4990, Currency: "EUR"},
			Attributes: &map[string]any{"colour": "green", "watts": 7.5, "dimmable": true},
		}
		key := catalogue.CreateProductParams{IdempotencyKey: pointer(fmt.Sprintf("oapi-%d", index))}
		response, err := products.CreateProductWithResponse(ctx, &key, input)
		check(err == nil && response.JSON201 != nil, response)
		created = append(created, *response.JSON201)
	}

	list := catalogue.ListProductsParams{
		Sort: &[]catalogue.ListProductsParamsSort{
			catalogue.ListProductsParamsSortName,
			catalogue.ListProductsParamsSortMinusId,
		},
		Limit:      pointer(2),
		NamePrefix: pointer("oapi "),
	}
	first, err := products.ListProductsWithResponse(ctx, &list)
	check(err == nil && first.JSON200 != nil, first)
	link := first.HTTPResponse.Header.Get("Link")
	next := regexp.MustCompile(`[?&]cursor=([^&>]+)[^>]*>; rel="next"`).FindStringSubmatch(link)
	check(next != nil, link)
	cursor, err := url.QueryUnescape(next[1])
	check(err == nil, err)
	list.Cursor = &cursor
	second, err := products.ListProductsWithResponse(ctx, &list)
	check(err == nil && second.JSON200 != nil, second)
	listed := append(*first.JSON200, *second.JSON200...)
	check(len(listed) == 3, listed)
	check(listed[0].Id == created[2].Id && listed[1].Id == created[1].Id && listed[2].Id == created[0].Id, listed)

	id := created[0].Id
	patch := catalogue.ProductPatch{Description: pointer("Brass")}
	patched, err := products.PatchProductWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, id, nil, patch)
	check(err == nil && patched.JSON200 != nil && *patched.JSON200.Description == "Brass", patched)

	replacement := catalogue.ProductReplacement{Name: "oapi desk lamp"}
	stale := catalogue.ReplaceProductParams{IfMatch: pointer(`"1"`)}
	refused, err := products.ReplaceProductWithResponse(ctx, id, &stale, replacement)
	check(err == nil && refused.JSON4XX != nil && refused.JSON4XX.Code == "precondition_failed", refused)
	current := catalogue.ReplaceProductParams{IfMatch: pointer(patched.HTTPResponse.Header.Get("ETag"))}
	replaced, err := products.ReplaceProductWithResponse(ctx, id, &current, replacement)
	check(err == nil && replaced.JSON200 != nil && replaced.JSON200.Price == nil, replaced)

	deleted, err := products.DeleteProductWithResponse(ctx, id, nil)
	check(err == nil && deleted.StatusCode() == http.StatusNoContent, deleted)
	gone, err := products.GetProductWithResponse(ctx, id, nil)
	check(err == nil && gone.JSON4XX != nil, gone)
}

func pointer[T any](value T) *T {
	return &value
}

func check(holds bool, seen any) {
	if !holds {
		panic(fmt.Sprintf("%+v", seen))
	}
}
