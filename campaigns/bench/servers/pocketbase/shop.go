package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

type shopProduct struct {
	Name        string `json:"name"`
	Sku         string `json:"sku"`
	Description string `json:"description"`
	Price       struct {
		Amount   *int64 `json:"amount"`
		Currency string `json:"currency"`
	} `json:"price"`
	Brand      string                     `json:"brand"`
	Gtin       string                     `json:"gtin"`
	Group      string                     `json:"group"`
	Status     string                     `json:"status"`
	Stock      int64                      `json:"stock"`
	Url        string                     `json:"url"`
	Tags       []string                   `json:"tags"`
	Images     json.RawMessage            `json:"images"`
	Attributes map[string]json.RawMessage `json:"attributes"`
}

// Creates a collection in which every field of a filter or an order is a column, unless it exists. A list of tags can
// have no index, so those of the colours are in the orders of the pages. The records go into the table without
// PocketBase's checks.
func fillShop(app core.App, file string) error {
	if _, err := app.FindCollectionByNameOrId("products"); err == nil {
		return nil
	}
	known, err := tagsOf(file)
	if err != nil {
		return err
	}
	return app.RunInTransaction(func(transaction core.App) error {
		products := core.NewBaseCollection("products")
		products.Fields.Add(
			&core.TextField{Name: "name", Required: true, Max: 200},
			&core.TextField{Name: "sku"},
			&core.TextField{Name: "description"},
			&core.NumberField{Name: "price"},
			&core.TextField{Name: "currency"},
			&core.TextField{Name: "brand"},
			&core.TextField{Name: "gtin"},
			&core.TextField{Name: "group"},
			&core.TextField{Name: "status"},
			&core.NumberField{Name: "stock"},
			&core.URLField{Name: "url"},
			&core.SelectField{Name: "tags", Values: known, MaxSelect: 50},
			&core.JSONField{Name: "images"},
			&core.TextField{Name: "colour"},
			&core.TextField{Name: "material"},
			&core.JSONField{Name: "attributes"},
			&core.AutodateField{Name: "created", OnCreate: true},
			&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true},
		)
		public := types.Pointer("")
		products.ListRule, products.ViewRule = public, public
		if err := transaction.Save(products); err != nil {
			return err
		}
		insert := transaction.DB().NewQuery("INSERT INTO products (id, name, sku, description, price, currency, brand, " +
			"gtin, [[group]], status, stock, url, tags, images, colour, material, attributes, created, updated) VALUES " +
			"({:id}, {:name}, {:sku}, {:description}, {:price}, {:currency}, {:brand}, {:gtin}, {:group}, {:status}, " +
			"{:stock}, {:url}, {:tags}, {:images}, {:colour}, {:material}, {:attributes}, {:now}, {:now})").Prepare()
		defer insert.Close()
		now := types.NowDateTime().String()
		id := 0
		err := eachProduct(file, func(product shopProduct) error {
			id++
			_, err := insert.Bind(dbx.Params{
				"id": fmt.Sprintf("%015d", id), "name": product.Name, "sku": product.Sku,
				"description": product.Description, "price": amountOf(product), "currency": product.Price.Currency,
				"brand": product.Brand, "gtin": product.Gtin, "group": product.Group, "status": product.Status,
				"stock": product.Stock, "url": product.Url, "tags": textOf(product.Tags),
				"images": textOf(product.Images), "colour": stringOf(product.Attributes["colour"]),
				"material": stringOf(product.Attributes["material"]), "attributes": textOf(product.Attributes),
				"now": now,
			}).Execute()
			return err
		})
		if err != nil {
			return err
		}
		for _, order := range []string{"price", "name", "id"} {
			products.AddIndex("products_by_"+order, false, "colour, "+order, "")
		}
		products.AddIndex("products_sku", true, "sku", "sku != ''")
		return transaction.Save(products)
	})
}

func tagsOf(file string) ([]string, error) {
	seen := map[string]bool{}
	tags := []string{}
	err := eachProduct(file, func(product shopProduct) error {
		for _, tag := range product.Tags {
			if !seen[tag] {
				seen[tag] = true
				tags = append(tags, tag)
			}
		}
		return nil
	})
	return tags, err
}

func eachProduct(file string, act func(shopProduct) error) error {
	lines, err := os.Open(file)
	if err != nil {
		return err
	}
	defer lines.Close()
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		product := shopProduct{}
		if err := json.Unmarshal(scanner.Bytes(), &product); err != nil {
			return err
		}
		if err := act(product); err != nil {
			return err
		}
	}
	return scanner.Err()
}

// A number of PocketBase is never missing: 0 stands for it.
func amountOf(product shopProduct) int64 {
	if product.Price.Amount == nil {
		return 0
	}
	return *product.Price.Amount
}

func textOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func stringOf(value json.RawMessage) string {
	text := ""
	_ = json.Unmarshal(value, &text)
	return text
}
