// Package wire has the requests and answers of the API as types: what REST, the console, the outputs and the
// command line exchange with package service. Struct tags name the parts of a request (path, query, header,
// Body) and their limits; JSON names and limits are part of the API and change only by addition. An
// [Operation] names one request with its method, path and required scope, so that the server's routes and the
// client's calls come from the same value.
//
// The package imports records (storage, subjects) and scopes (access) only, so that a client needs nothing of the
// server.
package wire

import (
	"time"

	"feedmesh/agent/access"
)

// None is a request or an answer without content.
type None struct{}

// An Operation is one request of the API: its route, its description, and the types of its request and answer.
// The server registers it and the client sends it. In is a struct whose fields have the tags path, query or
// header, or are named Body or RawBody. Out is encoded as JSON, except for [None] and [Document].
type Operation[In, Out any] struct {
	ID      string // such as list-feeds; names the operation in the OpenAPI description
	Method  string
	Path    string // with parameters in braces
	Tag     string // the group in the OpenAPI description
	Scope   access.Scope
	Summary string // one sentence without a full stop

	Description string // further sentences; optional
	Errors      []int  // statuses of errors beside those of every operation
	Status      int    // of success; 0: 200, or 204 without an answer
	MaxBody     int64  // bytes of a request's body; 0: the limit of all requests
	Type        string // media type of a [Document]
	NoStore     bool   // the answer contains a secret that no cache may keep

	Within time.Duration // how long a client waits for the answer; 0: as for most operations

	// Pending reports whether the change is accepted and not applied yet: status 202; nil: it never is.
	Pending func(Out) bool
}

// A Document is an answer that is not JSON, such as a rule set or an OPML file.
type Document struct {
	Type string // media type with its parameters
	ETag string // optional
	Data []byte
}

// ByID is a request that names one record.
type ByID struct {
	ID string `path:"id" maxLength:"64" doc:"ID of the record."`
}
