package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// callREST sends a request to the REST API in this process and decodes the response. A response other than
// 200 is returned as the error, a [restResponse].
func (o *outputs) callREST(r *http.Request, path string, query url.Values, to any) error {
	query.Del("cursor")
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(defaultLimit))
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	request.Host = r.Host
	a := &restResponse{header: http.Header{}, status: http.StatusOK}
	o.rest.ServeHTTP(a, request)
	if a.status != http.StatusOK {
		return a
	}
	return json.Unmarshal(a.body.Bytes(), to)
}

// A restResponse buffers a response of the REST API. It is an error if the status is not 200.
type restResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *restResponse) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *restResponse) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *restResponse) Write(p []byte) (int, error) { return a.body.Write(p) }

// Error returns the status and the start of the body, for the log.
func (a *restResponse) Error() string { return fmt.Sprintf("%d %.500s", a.status, a.body.Bytes()) }
