package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// ask has the REST interface answer a request for what this one is about. The error
// is its answer if it refuses that.
func (o *outputs) ask(r *http.Request, path string, query url.Values, to any) error {
	query.Del("cursor")
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(defaultLimit))
	}
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	asked.Host = r.Host
	a := &answer{header: http.Header{}, status: http.StatusOK}
	o.rest.ServeHTTP(a, asked)
	if a.status != http.StatusOK {
		return a
	}
	return json.Unmarshal(a.body.Bytes(), to)
}

// An answer is one of the REST interface. It is an error where that refuses.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// Error returns the answer, for a log.
func (a *answer) Error() string { return fmt.Sprintf("%d %.500s", a.status, a.body.Bytes()) }
