// Checks histories of records with porcupine: is there for each record an order of all operations that agrees with
// their responses, and with the times between which each took effect? Reads a JSON object a line from standard input,
// and prints one JSON object.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// A guard: a record whose check takes longer counts as a failure.
const checkTime = 2 * time.Minute

type report struct {
	Operations int   `json:"operations"`
	Records    int   `json:"records"`
	Violations []int `json:"violations"`
	// Records whose check took too long.
	Unchecked []int `json:"unchecked"`
}

func main() {
	histories, total, err := readHistories(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	result := check(histories)
	result.Operations = total
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Returns the operations of each record.
func readHistories(input io.Reader) (map[int][]operation, int, error) {
	histories := map[int][]operation{}
	decoder := json.NewDecoder(input)
	for total := 0; ; total++ {
		var line operation
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return histories, total, nil
		} else if err != nil {
			return nil, 0, err
		}
		histories[line.Record] = append(histories[line.Record], line)
	}
}

func checkRecord(history []operation) porcupine.CheckResult {
	operations := make([]porcupine.Operation, 0, len(history))
	for _, line := range history {
		operations = append(operations, porcupine.Operation{
			ClientId: line.Client,
			Input:    line.request,
			Output:   line.response,
			Call:     line.Call,
			Return:   line.end(),
		})
	}
	return porcupine.CheckOperationsTimeout(modelOf(history), operations, checkTime)
}

func check(histories map[int][]operation) report {
	result := report{Records: len(histories), Violations: []int{}, Unchecked: []int{}}
	var lock sync.Mutex
	var checks sync.WaitGroup
	slots := make(chan struct{}, 4)
	for record, history := range histories {
		checks.Add(1)
		go func(record int, history []operation) {
			defer checks.Done()
			slots <- struct{}{}
			found := checkRecord(history)
			<-slots
			lock.Lock()
			defer lock.Unlock()
			switch found {
			case porcupine.Illegal:
				result.Violations = append(result.Violations, record)
			case porcupine.Unknown:
				result.Unchecked = append(result.Unchecked, record)
			}
		}(record, history)
	}
	checks.Wait()
	return result
}
