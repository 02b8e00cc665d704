// Package wire has the requests and answers of the API as types: what REST, the console, the outputs and the
// command line exchange with package service. Struct tags name the parts of a request (path, query, header,
// Body) and their limits; JSON names and limits are part of the API and change only by addition. An
// [Operation] names one request with its method, path and required scope, so that the server's routes and the
// client's calls come from the same value.
//
// The package imports records (storage, subjects) and scopes (access) only, so that a client needs nothing of the
// server.
package wire
