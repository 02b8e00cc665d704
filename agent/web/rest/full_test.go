package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"feedmesh/agent/service"
	"feedmesh/storage"
)

// A fullStore has a disk without space once it is full.
type fullStore struct {
	storage.Store
	full *bool
}

func (s fullStore) ChangeRecord(ctx context.Context, table *storage.Table, change storage.RecordChange) error {
	if *s.full {
		return syscall.ENOSPC
	}
	return s.Store.ChangeRecord(ctx, table, change)
}

// People log in while there is too little space for other changes. Without any space the page states why they can't.
func TestPeople_LoginWithAFullDisk(t *testing.T) {
	t.Parallel()
	low, full := false, false
	w := withPeople(t, func(d *setup) {
		d.Store = fullStore{d.Store, &full}
		d.Deps.DiskSpace = func() error {
			if low {
				return errors.New("the disk is full: 9MB free")
			}
			return nil
		}
	})
	low = true
	cookie := w.login(t, "ann")
	if a := w.form(t, "/people", url.Values{"name": {"dan"}}, "Cookie", cookie); a.StatusCode != http.StatusInsufficientStorage {
		t.Errorf("another change: got %d %s, want 507", a.StatusCode, a.body)
	}
	if a := w.form(t, "/logout", nil, "Cookie", cookie); a.StatusCode != http.StatusSeeOther {
		t.Errorf("logout: got %d %s", a.StatusCode, a.body)
	}
	full = true
	a := w.form(t, "/login", url.Values{"name": {"ann"}, "password": {password}})
	if a.StatusCode != http.StatusInsufficientStorage || !strings.Contains(a.body, "The disk of the server is full") || len(a.Cookies()) > 0 {
		t.Errorf("got %d %s, want 507 with the reason", a.StatusCode, a.body)
	}
	if a := w.form(t, "/login", url.Values{"name": {"ann"}, "password": {"wrong password"}}); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong password: got %d", a.StatusCode)
	}
}

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
		{"DELETE", "/api/views/none", "", http.StatusNotFound},
		{"POST", "/api/feeds", `{"urls":["https://a.example/"]}`, http.StatusInsufficientStorage},
		{"PUT", "/api/views/a", `{"definition":"view a = from all"}`, http.StatusInsufficientStorage},
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
