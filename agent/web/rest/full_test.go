package rest

import (
	"errors"
	"net/http"
	"testing"

	"feedmesh/agent/service"
)

// While the disk is full, all can be read and removed, and nothing is changed.
func TestHandle_FullDisk(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(d *setup) {
		d.Deps.DiskSpace = func() error { return errors.New("the disk of the data folder ./data is full: 0B free") }
	})
	for _, request := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/feeds", "", http.StatusOK},
		{"GET", "/api/search?q=x", "", http.StatusOK},
		{"DELETE", "/api/searches/none", "", http.StatusNotFound},
		{"POST", "/api/feeds", `{"urls":["https://a.example/"]}`, http.StatusInsufficientStorage},
		{"PUT", "/api/searches/a", `{"query":"x"}`, http.StatusInsufficientStorage},
		{"POST", "/api/tokens", `{"name":"a","scopes":["read"]}`, http.StatusInsufficientStorage},
	} {
		a := w.request(t, request.method, request.path, request.body)
		if request.want == http.StatusInsufficientStorage {
			a.isProblem(t, request.want, "nothing can be changed now, only read: the disk of the data folder ./data is full")
		} else if a.StatusCode != request.want {
			t.Errorf("%s %s: got %d %s, want %d", request.method, request.path, a.StatusCode, a.body, request.want)
		}
	}
	if service.KindOf(w.CheckSpace()) != service.KindFull {
		t.Errorf("got %v, want an error of KindFull", w.CheckSpace())
	}
}
