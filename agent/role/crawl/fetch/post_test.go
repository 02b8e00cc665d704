package fetch

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestPost_ReturnsAnyResponse(t *testing.T) {
	var method, kind, agent, sent string
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, kind, agent, sent = r.Method, r.Header.Get("Content-Type"), r.UserAgent(), string(body)
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, strings.Repeat("no ", 1000))
	})
	status, body, err := client(t).Post(t.Context(), hub, url.Values{"hub.mode": {"subscribe"}, "hub.topic": {"http://a/?b=ü"}})
	if err != nil || status != http.StatusBadRequest || len(body) != maxAnswer {
		t.Fatalf("got status %d, %d bytes, %v; want 400 with %d bytes", status, len(body), err, maxAnswer)
	}
	const want = "hub.mode=subscribe&hub.topic=http%3A%2F%2Fa%2F%3Fb%3D%C3%BC"
	if method != "POST" || kind != "application/x-www-form-urlencoded" || agent != "test" || sent != want {
		t.Errorf("the hub got %s of %s by %s: %s; want the form %s", method, kind, agent, sent, want)
	}
}

func TestPost_FollowsOnlyRedirectsThatKeepTheForm(t *testing.T) {
	for status, want := range map[int]int{301: 301, 302: 302, 303: 303, 307: 202, 308: 202} {
		hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/there", status)
				return
			}
			if body, _ := io.ReadAll(r.Body); string(body) != "a=b" || r.Referer() != "" {
				t.Errorf("status %d: got the form %q by %q, want a=b and no referrer", status, body, r.Referer())
			}
			w.WriteHeader(http.StatusAccepted)
		})
		if got, _, err := client(t).Post(t.Context(), hub+"/", url.Values{"a": {"b"}}); got != want || err != nil {
			t.Errorf("redirected by %d: got %d, %v; want %d", status, got, err, want)
		}
	}
	round := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusTemporaryRedirect) })
	if got, _, err := client(t).Post(t.Context(), round, nil); got != 307 || err != nil {
		t.Errorf("redirected for ever: got %d, %v; want the last redirect", got, err)
	}
}

func TestPost_BlocksPrivateAddresses(t *testing.T) {
	inside := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a private address was reached") })
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside, http.StatusTemporaryRedirect)
	})
	closed := client(t, func(o *Options) { o.Allow = nil })
	if _, _, err := closed.Post(t.Context(), inside, nil); !errors.Is(err, ErrBlocked) {
		t.Errorf("got %v, want %v", err, ErrBlocked)
	}
	redirected := client(t, func(o *Options) {
		o.Deny = append(o.Deny, netip.MustParseAddrPort(strings.TrimPrefix(inside, "http://")))
	})
	if _, _, err := redirected.Post(t.Context(), outside, nil); !errors.Is(err, ErrBlocked) {
		t.Errorf("redirected: got %v, want %v", err, ErrBlocked)
	}
	for _, address := range []string{"file:///etc/passwd", "ftp://user:s3cret@a/", "://s3cret", "http://"} {
		if _, _, err := closed.Post(t.Context(), address, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want an error without the address", address, err)
		}
	}
}
