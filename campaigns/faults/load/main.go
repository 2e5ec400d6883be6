// Sends requests over HTTPS at a constant rate, whether or not the service keeps up, and prints what came back as JSON.
// A request is sent over a free connection of a fixed number. Its time counts from when it was due, so that a stall of
// this program or of the service is in the times of all requests that were due meanwhile.
//
//	go run main.go -port 8443 -ca ca.pem -requests requests.json -phases closed:3,2x:6,0.5x:3
//
// A phase is `RATE:SECONDS`. RATE is `closed` (64 connections, each sends the next request when the response has
// arrived), or a multiple of what the last closed phase reached, such as `2x`.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	closedConnections = 64
	handshakesAtOnce  = 16
	bucket            = 100 * time.Millisecond
	// A response that takes longer, or a connection, counts as missing.
	patience = 2 * time.Minute
)

type request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
	Token  string `json:"token"`
}

// Phase is what a phase measured. Times are in milliseconds.
type Phase struct {
	Rate    string  `json:"rate"`
	Seconds float64 `json:"seconds"`
	// Requests that were due, and those of them that had no free connection.
	Due    int `json:"due"`
	Unsent int `json:"unsent"`
	// Successful responses, and 503 with everything that it needs.
	Ok         int            `json:"ok"`
	Refused    int            `json:"refused"`
	Broken     int            `json:"broken"`
	Awaited    int            `json:"awaited"`
	Other      map[string]int `json:"other"`
	P99        float64        `json:"p99"`
	RefusedP50 float64        `json:"refusedP50"`
	// Successful responses, and requests that were due and had none, for each tenth of a second in which they were due.
	OkByTenth  []int `json:"okByTenth"`
	DueByTenth []int `json:"dueByTenth"`

	start    time.Time
	times    []float64
	refusals []float64
}

type connection struct {
	socket *tls.Conn
	phase  *Phase
	due    time.Time
}

type generator struct {
	mutex    sync.Mutex
	free     []*connection
	requests [][]byte
	next     int
	config   *tls.Config
	port     string
	// Connections that send again as soon as a response has arrived.
	closedUntil time.Time
}

func main() {
	port := flag.String("port", "", "of the service on 127.0.0.1")
	ca := flag.String("ca", "", "file of the CA")
	file := flag.String("requests", "", "JSON array of requests, sent in turns: method, path, body, token")
	count := flag.Int("connections", 1_000, "")
	phases := flag.String("phases", "closed:3,2x:5", "RATE:SECONDS, separated by commas")
	flag.Parse()

	pem, err := os.ReadFile(*ca)
	check(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	g := &generator{port: *port, config: &tls.Config{RootCAs: pool, ServerName: "localhost"}}
	g.read(*file)
	g.open(*count)
	fmt.Fprintln(os.Stderr, "connected")

	peak := 0.0
	var results []*Phase
	for _, text := range strings.Split(*phases, ",") {
		rate, length, _ := strings.Cut(text, ":")
		seconds, err := strconv.ParseFloat(length, 64)
		check(err)
		phase := &Phase{Rate: rate, Seconds: seconds, Other: map[string]int{}, start: time.Now()}
		results = append(results, phase)
		fmt.Fprintln(os.Stderr, "phase", rate)
		if rate == "closed" {
			g.runClosed(phase)
			peak = float64(phase.Ok) / seconds
		} else {
			multiple, err := strconv.ParseFloat(strings.TrimSuffix(rate, "x"), 64)
			check(err)
			g.run(phase, multiple*peak)
		}
	}
	g.awaitResponses(*count)
	g.mutex.Lock()
	for _, phase := range results {
		phase.finish()
	}
	check(json.NewEncoder(os.Stdout).Encode(results))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (g *generator) read(file string) {
	text, err := os.ReadFile(file)
	check(err)
	var requests []request
	check(json.Unmarshal(text, &requests))
	for _, r := range requests {
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", r.Method, r.Path, r.Token)
		if r.Body != "" {
			kind := "application/json"
			if r.Method == "PATCH" {
				kind = "application/merge-patch+json"
			}
			head += fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", kind, len(r.Body))
		}
		g.requests = append(g.requests, []byte(head+"\r\n"+r.Body))
	}
}

func (g *generator) open(count int) {
	var opened sync.WaitGroup
	slots := make(chan struct{}, handshakesAtOnce)
	for i := 0; i < count; i++ {
		slots <- struct{}{}
		opened.Add(1)
		go func() {
			c := &connection{}
			check(g.dial(c))
			<-slots
			opened.Done()
			g.release(c)
			g.serve(c)
		}()
	}
	opened.Wait()
}

func (g *generator) dial(c *connection) error {
	// The address of the probes is another one.
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, 1)}
	dialer := net.Dialer{LocalAddr: from, Timeout: patience}
	raw, err := dialer.Dial("tcp", "127.0.0.1:"+g.port)
	if err != nil {
		return err
	}
	c.socket = tls.Client(raw, g.config)
	// A connection without a request is closed after ten seconds, an idle one is not.
	if _, err = c.socket.Write(g.requests[0]); err != nil {
		return err
	}
	_, _, err = readResponse(c.socket, make([]byte, 32*1024))
	return err
}

// awaitResponses returns when no connection waits for a response.
func (g *generator) awaitResponses(count int) {
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(10 * time.Millisecond) {
		g.mutex.Lock()
		free := len(g.free)
		g.mutex.Unlock()
		if free == count {
			return
		}
	}
}

func (g *generator) release(c *connection) {
	g.mutex.Lock()
	g.free = append(g.free, c)
	g.mutex.Unlock()
}

func (g *generator) take() *connection {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if len(g.free) == 0 {
		return nil
	}
	c := g.free[0]
	g.free = g.free[1:]
	return c
}

func (g *generator) send(c *connection, phase *Phase, due time.Time) {
	g.mutex.Lock()
	bytes := g.requests[g.next%len(g.requests)]
	g.next++
	c.phase, c.due = phase, due
	phase.Due++
	phase.tenth(due, 0)
	g.mutex.Unlock()
	// An error shows when the response is read.
	_, _ = c.socket.Write(bytes)
}

func (g *generator) runClosed(phase *Phase) {
	end := phase.start.Add(time.Duration(phase.Seconds * float64(time.Second)))
	g.mutex.Lock()
	g.closedUntil = end
	g.mutex.Unlock()
	for i := 0; i < closedConnections; i++ {
		if c := g.take(); c != nil {
			g.send(c, phase, time.Now())
		}
	}
	time.Sleep(time.Until(end))
}

func (g *generator) run(phase *Phase, rate float64) {
	length := time.Duration(phase.Seconds * float64(time.Second))
	sent := 0
	for {
		elapsed := time.Since(phase.start)
		due := int(rate * min(elapsed, length).Seconds())
		for ; sent < due; sent++ {
			at := phase.start.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
			if c := g.take(); c != nil {
				g.send(c, phase, at)
			} else {
				g.mutex.Lock()
				phase.Due++
				phase.Unsent++
				phase.tenth(at, 0)
				g.mutex.Unlock()
			}
		}
		if elapsed >= length {
			return
		}
		time.Sleep(time.Millisecond / 2)
	}
}

// serve reads the responses of a connection.
func (g *generator) serve(c *connection) {
	buffer := make([]byte, 32*1024)
	for {
		status, isValid, err := readResponse(c.socket, buffer)
		now := time.Now()
		g.mutex.Lock()
		phase, due := c.phase, c.due
		c.phase = nil
		if err != nil && phase != nil {
			phase.Broken++
		} else if err == nil {
			phase.record(status, isValid, due, now)
		}
		isClosed := err == nil && phase.Rate == "closed" && now.Before(g.closedUntil)
		g.mutex.Unlock()
		if err != nil {
			_ = c.socket.Close()
			for g.dial(c) != nil {
				time.Sleep(100 * time.Millisecond)
			}
			g.release(c)
		} else if isClosed {
			g.send(c, phase, now)
		} else {
			g.release(c)
		}
	}
}

var (
	endOfHead     = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	retryAfter    = []byte("\r\nRetry-After: ")
	requestId     = []byte("\r\nX-Request-Id: ")
	unavailable   = []byte(`{"code":"unavailable",`)
)

// readResponse returns the status, and whether a 503 has all that the contract says.
func readResponse(socket *tls.Conn, buffer []byte) (status int, isValid bool, err error) {
	length := 0
	for {
		n, err := socket.Read(buffer[length:])
		if err != nil {
			return 0, false, err
		}
		length += n
		end := bytes.Index(buffer[:length], endOfHead)
		if end < 0 {
			continue
		}
		head := buffer[:end+2]
		status, _ = strconv.Atoi(string(head[9:12]))
		body := 0
		if at := bytes.Index(head, contentLength); at >= 0 {
			value := head[at+len(contentLength):]
			body, _ = strconv.Atoi(string(value[:bytes.IndexByte(value, '\r')]))
		}
		if status == 503 {
			rest := buffer[end+4 : length]
			isValid = bytes.Contains(head, retryAfter) && bytes.Contains(head, requestId) && bytes.HasPrefix(rest, unavailable)
		}
		for left := end + 4 + body - length; left > 0; {
			n, err := socket.Read(buffer[:min(left, len(buffer))])
			if err != nil {
				return 0, false, err
			}
			left -= n
		}
		return status, isValid, nil
	}
}

func (p *Phase) tenth(due time.Time, ok int) {
	at := int(due.Sub(p.start) / bucket)
	for len(p.DueByTenth) <= at {
		p.DueByTenth = append(p.DueByTenth, 0)
		p.OkByTenth = append(p.OkByTenth, 0)
	}
	if ok == 0 {
		p.DueByTenth[at]++
	} else {
		p.OkByTenth[at] += ok
	}
}

func (p *Phase) record(status int, isValid bool, due, now time.Time) {
	ms := float64(now.Sub(due)) / float64(time.Millisecond)
	switch {
	case status >= 200 && status < 300:
		p.Ok++
		p.times = append(p.times, ms)
		p.tenth(due, 1)
	case status == 503 && isValid:
		p.Refused++
		p.refusals = append(p.refusals, ms)
	default:
		p.Other[strconv.Itoa(status)]++
	}
}

func (p *Phase) finish() {
	p.P99, p.RefusedP50 = quantile(p.times, 0.99), quantile(p.refusals, 0.5)
	answered := p.Ok + p.Refused + p.Broken
	for _, n := range p.Other {
		answered += n
	}
	p.Awaited = p.Due - p.Unsent - answered
}

func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	at := int(part*float64(len(sorted))+0.999999) - 1
	return sorted[max(0, min(at, len(sorted)-1))]
}
