package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"feedmesh/agent/role/crawl/fetch"
)

// The second request sends the validators of the first response back; a 304 response has no body.
func ExampleClient_Fetch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "<rss/>")
	}))
	defer server.Close()
	client := fetch.New(fetch.Options{
		UserAgent: "example", Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1,
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, // private addresses are blocked by default
	})
	defer client.Close()

	first, err := client.Fetch(context.Background(), fetch.Request{URL: server.URL}, time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := fetch.Decompress(first.Body, 1<<20)
	fmt.Println(first.Status, string(body), err)

	second, err := client.Fetch(context.Background(), fetch.Request{URL: server.URL, ETag: first.ETag, BodyHash: first.BodyHash}, time.Now())
	fmt.Println(second.Status, second.Unchanged, err)
	// Output:
	// 200 <rss/> <nil>
	// 304 true <nil>
}

// An error has a class, which labels metrics and determines its weight.
func ExampleError() {
	client := fetch.New(fetch.Options{Timeout: 10 * time.Second, MaxBody: 1 << 20, MaxCompressed: 1 << 20, Parallel: 1})
	defer client.Close()
	_, err := client.Fetch(context.Background(), fetch.Request{URL: "http://127.0.0.1/feed"}, time.Now())
	var failure *fetch.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Class, fetch.Weight(failure.Class, failure.Status), errors.Is(err, fetch.ErrBlocked))
	}
	// Output:
	// blocked 0.5 true
}
