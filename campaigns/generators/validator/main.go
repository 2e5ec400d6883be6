// Validates requests of lists by the document, as vacuum and wiretap do.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

var valid = []string{
	"/v1/products",
	"/v1/products?sort=name,-id&limit=1&name.prefix=lamp%20",
	"/v1/products?brand=Acme&brand.exists=true&stock.gte=3&stock.lt=9&price.amount.in=1,2&price.currency=EUR",
	"/v1/products?tags=lamps&tags.in=a,b&tags.all=c,d&status=live&gtin.ne=4006381333931&url.exists=false",
	"/v1/products?q=lamp&createdAt.gt=2020-01-01T00:00:00Z&fields=id,name,version&limit=2",
	"/v1/products?attributes%5Bcolour%5D=green&brand=Acme",
	"/v1/products/facets?fields=brand,tags&limit=5&brand=Acme&stock.gte=3",
	"/v1/products/changes?limit=5&fields=id,version",
	"/v1/users?email.prefix=ann&name=Ann&sort=-createdAt",
	"/v1/orders?userId=1&id.in=1,2&createdAt.lte=2030-01-01T00:00:00Z",
	"/v1/api-keys?createdBy=1&limit=3",
	"/v1/webhooks?createdBy.exists=true",
}

// Each breaks the schema of one parameter.
var invalid = []string{
	"/v1/products?limit=0",
	"/v1/products?brand=Acme&stock.gte=many",
	"/v1/products?sort=colour",
	"/v1/products/facets?brand=Acme",
	"/v1/orders?userId=Ann&limit=2",
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err == nil, err)
	document, err := libopenapi.NewDocument(text)
	check(err == nil, err)
	requests, errs := validator.NewValidator(document)
	check(len(errs) == 0, errs)
	report := func(target string) string {
		request, err := http.NewRequest(http.MethodGet, "https://localhost"+target, nil)
		check(err == nil, err)
		request.Header.Set("Authorization", "Bearer token")
		if ok, issues := requests.ValidateHttpRequestSync(request); !ok {
			return fmt.Sprint(issues)
		}
		return ""
	}
	for _, target := range valid {
		issues := report(target)
		check(issues == "", target, issues)
	}
	for _, target := range invalid {
		check(report(target) != "", target, "is not reported")
	}
	fmt.Println(len(valid)+len(invalid), "requests")
}

func check(ok bool, details ...any) {
	if !ok {
		panic(fmt.Sprint(details...))
	}
}
