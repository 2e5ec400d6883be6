package main

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// The fields of a record. An empty text is no value.
type fields [4]string

// An operation on a record.
type operation struct {
	Record int   `json:"record"`
	Client int   `json:"client"`
	Call   int64 `json:"call"`
	// Absent if the outcome is unknown.
	Return *int64 `json:"return"`
	request
	response
}

type request struct {
	// create, read, put, patch or delete
	Kind string `json:"kind"`
	// The version in If-Match, or 0.
	IfMatch int `json:"ifMatch"`
	// The fields of a create or put.
	Value fields `json:"value"`
	// The fields that a patch sets; the others stay. A patch with an empty text removes a field.
	Changes [4]*string `json:"changes"`
}

type response struct {
	// 0 if the outcome is unknown.
	Status  int     `json:"status"`
	Version int     `json:"version"`
	Result  *fields `json:"result"`
}

// An operation of unknown outcome may take effect until the end of the history, or never.
func (line operation) end() int64 {
	if line.Return == nil {
		return math.MaxInt64
	}
	return *line.Return
}

// A record at one moment. Version 0 is before its creation, and a deleted record has the version -1 for ever.
type record struct {
	version int
	value   fields
}

// What a history shows of its record.
type shown struct {
	// The fields of each version that a response has in full.
	values map[int]fields
	// The largest version in any request or response.
	latest int
}

func shownBy(history []operation) shown {
	found := shown{values: map[int]fields{}}
	for _, line := range history {
		found.latest = max(found.latest, line.IfMatch, line.Version)
		if line.Result != nil {
			found.values[line.Version] = *line.Result
		}
	}
	return found
}

// Returns the model of a record. Each write of unknown outcome doubles the number of orders, so the model uses the whole
// history to find the impossible ones early: a version has the fields that any response shows of it, and a write of
// unknown outcome after the latest version that anybody names changes nothing that can be seen, so it is left out.
func modelOf(history []operation) porcupine.Model {
	found := shownBy(history)
	return porcupine.Model{
		Init: func() any { return record{} },
		Step: func(state, input, output any) (bool, any) {
			now, asked, got := state.(record), input.(request), output.(response)
			if got.Status == 0 && asked.Kind != "delete" && now.version >= found.latest {
				return true, now
			}
			isPossible, next := step(now, asked, got)
			value, isShown := found.values[next.version]
			return isPossible && (!isShown || value == next.value), next
		},
	}
}

// Returns whether a request may have this response in this state, and the state after it.
func step(now record, asked request, got response) (bool, record) {
	if asked.Kind == "create" {
		return now.version == 0, record{version: 1, value: asked.Value}
	}
	next, status := now.after(asked)
	switch got.Status {
	case 0:
		return true, next
	case 404:
		return status == 404, now
	case 412:
		return status == 412 && got.Version == now.version, now
	case 304:
		return status == 200 && got.Version == now.version, now
	case 204:
		return status == 204, next
	default:
		isSame := got.Result == nil || *got.Result == next.value
		return status == got.Status && got.Version == next.version && isSame, next
	}
}

// Returns the state after a request, and the status of its response.
func (now record) after(asked request) (record, int) {
	if now.version <= 0 {
		return now, 404
	}
	if asked.IfMatch != 0 && asked.IfMatch != now.version {
		return now, 412
	}
	next := now
	switch asked.Kind {
	case "read":
		return now, 200
	case "delete":
		return record{version: -1}, 204
	case "put":
		next.value = asked.Value
	case "patch":
		for at, change := range asked.Changes {
			if change != nil {
				next.value[at] = *change
			}
		}
	}
	// A write that changes nothing makes no version.
	if next.value != now.value {
		next.version++
	}
	return next, 200
}
