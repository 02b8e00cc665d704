package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
)

// closing reports when it is closed.
type closing struct {
	io.Reader
	closed chan<- struct{}
}

func (c closing) Close() error { c.closed <- struct{}{}; return nil }

// zeros are endless.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestBackup_IsADownload(t *testing.T) {
	t.Parallel()
	const size = 5 << 20
	closed := make(chan struct{}, 1)
	w := newTestbed(t, withOwner, func(s *setup) {
		s.MakeBackup = func(context.Context) (wire.Download, error) {
			return wire.Download{Name: "feedmesh-1.db", Type: wire.MakeBackup.Type, Size: size, Body: closing{io.LimitReader(zeros{}, size), closed}}, nil
		}
	})
	a := w.request(t, "POST", "/api/backup", "", "Authorization", "Bearer "+w.secret(t, access.Admin))
	if a.StatusCode != http.StatusOK || len(a.body) != size || a.ContentLength != size ||
		a.Header.Get("Content-Disposition") != `attachment; filename="feedmesh-1.db"` || a.Header.Get("Content-Type") != "application/vnd.sqlite3" {
		t.Errorf("got %d %v and %d bytes", a.StatusCode, a.Header, len(a.body))
	}
	<-closed
	for _, scope := range []access.Scope{access.Search, access.Read, access.Write} {
		w.request(t, "POST", "/api/backup", "", "Authorization", "Bearer "+w.secret(t, scope)).isProblem(t, http.StatusForbidden, "")
	}
}

func TestBackup_ErrorIsAProblem(t *testing.T) {
	t.Parallel()
	w := newTestbed(t, func(s *setup) {
		s.MakeBackup = func(context.Context) (wire.Download, error) { return wire.Download{}, errors.New("the disk is full") }
	})
	w.request(t, "POST", "/api/backup", "").isProblem(t, http.StatusServiceUnavailable, "the disk is full")
}
