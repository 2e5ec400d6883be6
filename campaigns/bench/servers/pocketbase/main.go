// The products in PocketBase, which keeps its records in an embedded SQLite. It serves them with the certificate of the
// other servers. Arguments: CERTIFICATE_FILE PRODUCTS_FILE [shop].
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: "data/pocketbase"})
	if err := app.Bootstrap(); err != nil {
		log.Fatal(err)
	}
	app.OnServe().BindFunc(func(event *core.ServeEvent) error {
		fillIt := fill
		if len(os.Args) > 3 {
			fillIt = fillShop
		}
		if err := fillIt(app, os.Args[2]); err != nil {
			return err
		}
		certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[1])
		if err != nil {
			return err
		}
		event.InstallerFunc = nil
		event.Listener, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
			Certificates: []tls.Certificate{certificate},
			NextProtos:   []string{"http/1.1"},
		})
		if err != nil {
			return err
		}
		fmt.Printf("listens on https://localhost:%d\n", event.Listener.Addr().(*net.TCPAddr).Port)
		return event.Next()
	})
	log.Fatal(apis.Serve(app, apis.ServeConfig{HttpAddr: "127.0.0.1:0"}))
}

// Creates the collection, which everybody may read and write, and a record for each line of the file.
func fill(app core.App, file string) error {
	products := core.NewBaseCollection("products")
	products.Fields.Add(
		&core.TextField{Name: "name", Required: true, Max: 200},
		&core.TextField{Name: "sku"},
		&core.TextField{Name: "description"},
		&core.JSONField{Name: "price"},
		&core.JSONField{Name: "attributes"},
	)
	products.AddIndex("products_sku", true, "sku", "sku != ''")
	public := types.Pointer("")
	products.ListRule, products.ViewRule, products.CreateRule, products.UpdateRule = public, public, public, public
	if err := app.Save(products); err != nil {
		return err
	}
	lines, err := os.Open(file)
	if err != nil {
		return err
	}
	defer lines.Close()
	return app.RunInTransaction(func(transaction core.App) error {
		scanner := bufio.NewScanner(lines)
		for id := 1; scanner.Scan(); id++ {
			fields := map[string]any{}
			if err := json.Unmarshal(scanner.Bytes(), &fields); err != nil {
				return err
			}
			record := core.NewRecord(products)
			record.Load(fields)
			record.Id = fmt.Sprintf("%015d", id)
			if err := transaction.Save(record); err != nil {
				return err
			}
		}
		return scanner.Err()
	})
}
