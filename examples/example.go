// Imports, lists, creates and edits products with the standard library of Go 1.22 or later.
//
// README.md describes the environment variables API_KEY, CATALOGUE_URL and CATALOGUE_CA.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	attempts      = 5
	timeout       = 60 * time.Second
	progressEvery = 5
	maxLineBytes  = 1 << 20
)

// catalogue is a client of the service.
type catalogue struct {
	url, key string
	http     *http.Client
}

type price struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

type product struct {
	ID    int64  `json:"id,omitempty"`
	Name  string `json:"name"`
	Price *price `json:"price,omitempty"`
}

// importResult is the result of one line of an import.
type importResult struct {
	Line   int
	Status int
	Error  *struct {
		Code, Message string
		Details       []struct{ Message string }
	}
}

// refused is a response whose status is an error; its body says why.
type refused struct {
	status int
	body   string
}

func (r *refused) Error() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// request is a request that may be sent more than once.
type request struct {
	method, path string
	header       map[string]string
	// body opens the body for each attempt; nil means none.
	body func() (io.ReadCloser, error)
	// read reads the body of the response; nil ignores it.
	read func(io.Reader) error
}

func newCatalogue(address, key, caFile string) (*catalogue, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = timeout
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return &catalogue{strings.TrimRight(address, "/"), key, &http.Client{Transport: transport}}, nil
}

// address returns the address of a path below that of the service, which may have a path itself: https://host/shop. A
// link has that path if the service knows it (PUBLIC_URL).
func (c *catalogue) address(path string) string {
	if base, err := url.Parse(c.url); err == nil && strings.HasPrefix(path, base.Path+"/") {
		path = strings.TrimPrefix(path, base.Path)
	}
	return c.url + path
}

// send sends a request and returns the headers of the response.
//
// It sends the request again after a lost connection, and after 429 and 503 when the seconds in Retry-After have
// passed. That is safe because every request here reads, or has an If-Match or an Idempotency-Key.
func (c *catalogue) send(r request) (http.Header, error) {
	for attempt := 1; ; attempt++ {
		header, wait, err := c.try(r)
		if err == nil || wait < 0 || attempt == attempts {
			return header, err
		}
		wait = cmp.Or(wait, time.Duration(attempt)*time.Second)
		log.Printf("%s %s: %v; again in %v", r.method, r.path, err, wait)
		time.Sleep(wait)
	}
}

// try sends a request once. With an error it returns how long to wait before the next attempt: 0 if the response does
// not say it in seconds, and less if there is no use in another attempt.
func (c *catalogue) try(r request) (http.Header, time.Duration, error) {
	var body io.Reader
	if r.body != nil {
		opened, err := r.body()
		if err != nil {
			return nil, -1, err
		}
		body = opened // The transport closes it.
	}
	sent, err := http.NewRequest(r.method, c.address(r.path), body)
	if err != nil {
		return nil, -1, err
	}
	sent.Header.Set("Authorization", "Bearer "+c.key)
	for name, value := range r.header {
		sent.Header.Set(name, value)
	}
	response, err := c.http.Do(sent)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		text, _ := io.ReadAll(response.Body)
		wait := time.Duration(-1)
		if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			wait = time.Duration(seconds) * time.Second
		}
		return nil, wait, &refused{response.StatusCode, string(text)}
	}
	if r.read != nil {
		err = r.read(response.Body)
	}
	return response.Header, 0, err
}

// importProducts sends a file of NDJSON, and prints the progress and each line that the service rejects. The results
// arrive while the file is being sent.
//
// The key is a hash of the content: the same file, sent again, creates only what is missing.
func (c *catalogue) importProducts(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	_, err = c.send(request{
		method: "POST",
		path:   "/v1/products/imports",
		header: map[string]string{
			"Content-Type":    "application/x-ndjson",
			"Idempotency-Key": hex.EncodeToString(hash.Sum(nil)),
		},
		body: func() (io.ReadCloser, error) { return os.Open(name) },
		read: printResults,
	})
	return err
}

func printResults(body io.Reader) error {
	lines, failed := 0, 0
	scanner := bufio.NewScanner(body)
	scanner.Buffer(nil, maxLineBytes)
	for scanner.Scan() {
		var result importResult
		if err := json.Unmarshal(scanner.Bytes(), &result); err != nil {
			return err
		}
		lines++
		if result.Error != nil {
			failed++
			var why []string
			for _, detail := range result.Error.Details {
				why = append(why, detail.Message)
			}
			fmt.Printf("import: line %d: %d %s: %s\n", result.Line, result.Status, result.Error.Code,
				cmp.Or(strings.Join(why, " "), result.Error.Message))
		}
		if lines%progressEvery == 0 {
			fmt.Printf("import: %d lines, errors: %d\n", lines, failed)
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	fmt.Printf("import: finished, %d lines, errors: %d\n", lines, failed)
	return nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// list gives page after page to a function, led by the next of the Link header (RFC 8288).
func (c *catalogue) list(query url.Values, use func([]product)) error {
	for path := "/v1/products?" + query.Encode(); path != ""; {
		var page []product
		header, err := c.send(request{method: "GET", path: path, read: readJSON(&page)})
		if err != nil {
			return err
		}
		use(page)
		path = ""
		if next := nextLink.FindStringSubmatch(strings.Join(header.Values("Link"), ", ")); next != nil {
			path = next[1]
		}
	}
	return nil
}

// create creates a product once, however often the request is sent.
func (c *catalogue) create(p product) (created product, err error) {
	key := make([]byte, 16)
	if _, err = rand.Read(key); err != nil {
		return
	}
	_, err = c.send(request{
		method: "POST",
		path:   "/v1/products",
		header: map[string]string{"Content-Type": "application/json", "Idempotency-Key": hex.EncodeToString(key)},
		body:   jsonBody(p),
		read:   readJSON(&created),
	})
	return
}

// edit applies a change to a product, and to its newest state if another client has changed it in between (412), at
// most five times. It returns the ETag of the result.
//
// The change sets values and does not add to them, because after a lost response it meets what it has written itself.
// The product is a map, so that a PUT keeps fields that this program does not know.
func (c *catalogue) edit(id int64, change func(map[string]any)) (edited product, etag string, err error) {
	path := fmt.Sprintf("/v1/products/%d", id)
	for attempt := 1; ; attempt++ {
		var current map[string]any
		header, err := c.send(request{method: "GET", path: path, read: readJSON(&current)})
		if err != nil {
			return edited, "", err
		}
		change(current)
		header, err = c.send(request{
			method: "PUT",
			path:   path,
			header: map[string]string{"Content-Type": "application/json", "If-Match": header.Get("ETag")},
			body:   jsonBody(current),
			read:   readJSON(&edited),
		})
		if err == nil {
			return edited, header.Get("ETag"), nil
		}
		var refusal *refused
		if !errors.As(err, &refusal) || refusal.status != http.StatusPreconditionFailed || attempt == attempts {
			return edited, "", err
		}
		log.Printf("PUT %s: 412; another client was faster, reading it again", path)
	}
}

func jsonBody(value any) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		text, err := json.Marshal(value)
		return io.NopCloser(bytes.NewReader(text)), err
	}
}

func readJSON(target any) func(io.Reader) error {
	return func(body io.Reader) error { return json.NewDecoder(body).Decode(target) }
}

func run() error {
	c, err := newCatalogue(
		cmp.Or(os.Getenv("CATALOGUE_URL"), "https://localhost:8443"), os.Getenv("API_KEY"), os.Getenv("CATALOGUE_CA"))
	if err != nil {
		return err
	}

	if err := c.importProducts("products.ndjson"); err != nil {
		return err
	}

	query := url.Values{
		"sku.prefix":       {"EX-"},
		"price.currency":   {"EUR"},
		"price.amount.gte": {"5000"},
		"sort":             {"name,-id"},
		"limit":            {"3"},
	}
	err = c.list(query, func(page []product) {
		var names []string
		for _, p := range page {
			names = append(names, p.Name)
		}
		fmt.Println("list:", strings.Join(names, ", "))
	})
	if err != nil {
		return err
	}

	lamp, err := c.create(product{Name: "Reading lamp", Price: &price{3900, "EUR"}})
	if err != nil {
		return err
	}
	fmt.Printf("create: %s, id %d\n", lamp.Name, lamp.ID)

	lamp, etag, err := c.edit(lamp.ID, func(p map[string]any) {
		p["price"] = price{3500, "EUR"}
	})
	if err != nil {
		return err
	}
	fmt.Printf("edit: %s, %d %s, ETag %s\n", lamp.Name, lamp.Price.Amount, lamp.Price.Currency, etag)
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
