// Uses the client of `openapi-generator -g go`.
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

	catalogue "example.test/generators/openapi_generator/catalogue"
)

func main() {
	ca, err := os.ReadFile(os.Getenv("CATALOGUE_CA"))
	check(err == nil, err)
	roots := x509.NewCertPool()
	check(roots.AppendCertsFromPEM(ca), "no CA")

	configuration := catalogue.NewConfiguration()
	configuration.Servers = catalogue.ServerConfigurations{{URL: os.Getenv("CATALOGUE_URL")}}
	configuration.HTTPClient = &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	products := catalogue.NewAPIClient(configuration).ProductsAPI
	ctx := context.WithValue(context.Background(), catalogue.ContextAccessToken, os.Getenv("CATALOGUE_TOKEN"))

	var created []catalogue.Product
	for index, name := range []string{"go lamp", "go lamp", "go chair"} {
		input := catalogue.NewProductInput(name)
		input.SetSku(fmt.Sprintf("go-%d", index))
		input.SetPrice(*catalogue.NewPriceInput(4990, "EUR"))
		input.SetAttributes(map[string]interface{}{"colour": "green", "watts": 7.5, "dimmable": true})
		product, _, err := products.CreateProduct(ctx).ProductInput(*input).
			IdempotencyKey(fmt.Sprintf("go-%d", index)).Execute()
		check(err == nil, err)
		created = append(created, *product)
	}

	list := products.ListProducts(ctx).Sort([]string{"name", "-id"}).Limit(2).NamePrefix("go ")
	first, response, err := list.Execute()
	check(err == nil, err)
	next := regexp.MustCompile(`[?&]cursor=([^&>]+)[^>]*>; rel="next"`).FindStringSubmatch(response.Header.Get("Link"))
	check(next != nil, response.Header)
	cursor, err := url.QueryUnescape(next[1])
	check(err == nil, err)
	second, _, err := list.Cursor(cursor).Execute()
	check(err == nil && len(first) == 2 && len(second) == 1, err)
	check(first[0].Id == created[2].Id && first[1].Id == created[1].Id && second[0].Id == created[0].Id, first)

	id := created[0].Id
	patch := catalogue.NewProductPatch()
	patch.SetDescription("Brass")
	patch.SetSkuNil()
	patched, response, err := products.PatchProduct(ctx, id).ProductPatch(*patch).Execute()
	check(err == nil && patched.GetDescription() == "Brass" && !patched.HasSku(), patched)
	tag := response.Header.Get("ETag")

	replacement := *catalogue.NewProductReplacement("go desk lamp")
	_, response, err = products.ReplaceProduct(ctx, id).ProductReplacement(replacement).IfMatch(`"1"`).Execute()
	check(err != nil && response.StatusCode == http.StatusPreconditionFailed, response)
	problem, ok := err.(*catalogue.GenericOpenAPIError).Model().(catalogue.Error)
	check(ok && problem.Code == "precondition_failed", err)
	replaced, _, err := products.ReplaceProduct(ctx, id).ProductReplacement(replacement).IfMatch(tag).Execute()
	check(err == nil && replaced.Name == "go desk lamp" && !replaced.HasPrice(), err)

	_, err = products.DeleteProduct(ctx, id).Execute()
	check(err == nil, err)
	_, response, err = products.GetProduct(ctx, id).Execute()
	check(err != nil && response.StatusCode == http.StatusNotFound, response)
}

func check(holds bool, seen any) {
	if !holds {
		panic(fmt.Sprint(seen))
	}
}
