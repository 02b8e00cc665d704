package simulate

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// all changes settings so that every feed has a fault.
func all(fault Fault) func(*Settings) {
	return func(s *Settings) { s.Faults = Faults{fault: 1} }
}

// answersWith checks that the feeds of a web with a fault answer with these statuses, each at least once, and
// returns their URLs.
func answersWith(t *testing.T, fault Fault, statuses ...int) (urls []string) {
	t.Helper()
	w, server := newWeb(t, 10, all(fault))
	seen := map[int]bool{}
	for _, f := range w.Feeds(server.Port) {
		response, _, err := get(t, f.URL)
		if err != nil || !slices.Contains(statuses, response.StatusCode) {
			t.Errorf("%s: got %v, %v; want one of %d", fault, response, err, statuses)
			continue
		}
		seen[response.StatusCode] = true
		urls = append(urls, f.URL)
	}
	if len(seen) != len(statuses) {
		t.Errorf("%s: got %v of ten feeds, want all of %d", fault, slices.Collect(maps.Keys(seen)), statuses)
	}
	return urls
}

func TestFault_NotFoundAndGone(t *testing.T) {
	t.Parallel()
	answersWith(t, NotFound, http.StatusNotFound)
	answersWith(t, Gone, http.StatusGone)
}

func TestFault_ForbiddenIsReadThroughTheProxy(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 5, all(Forbidden))
	proxied := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: server.servers[1].Addr})}}
	defer proxied.CloseIdleConnections()
	for _, f := range w.Feeds(server.Port) {
		if response, _, err := get(t, f.URL); err != nil || response.StatusCode != http.StatusForbidden {
			t.Errorf("directly: got %v, %v; want 403", response, err)
		}
		response, err := proxied.Get(f.URL)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("by the proxy: got %v, %v; want the document", response, err)
		}
		response.Body.Close()
	}
	response, err := proxied.Get("http://example.org/")
	if err != nil || response.StatusCode != http.StatusBadGateway {
		t.Errorf("another host by the proxy: got %v, %v; want 502", response, err)
	}
	if s := w.Summary(); s.Polls != 5 || s.Requests != 10 {
		t.Errorf("got %d polls of %d requests, want those by the proxy to go on with the 5 before them", s.Polls, s.Requests)
	}
}

// A limited feed refuses half of the time, with the end in Retry-After.
func TestFault_LimitedSendsRetryAfter(t *testing.T) {
	t.Parallel()
	for _, fault := range []Fault{Limited, Broken} {
		w, server := newWeb(t, 80, func(s *Settings) {
			all(fault)(s)
			s.Now = Clock{1000, time.Now()}.Now
		})
		statuses, forms := map[int]int{}, map[bool]int{}
		for i, f := range w.Feeds(server.Port) {
			response, _, err := get(t, f.URL)
			if err != nil {
				t.Fatal(err)
			}
			status, after := response.StatusCode, response.Header.Get("Retry-After")
			statuses[status]++
			if (after != "") != (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
				t.Errorf("%d with Retry-After %q", status, after)
			}
			if after == "" {
				continue
			}
			until, err := http.ParseTime(after)
			if seconds, isNumber := strconv.Atoi(after); isNumber == nil {
				date, _ := http.ParseTime(response.Header.Get("Date"))
				until, err = date.Add(time.Duration(seconds)*time.Second), nil
				forms[true]++
			} else {
				forms[false]++
			}
			p := w.publisher(i)
			if free := p.refusedUntil(until.Add(2 * time.Second)); err != nil || !free.IsZero() || p.refusedUntil(until.Add(-2*time.Second)).IsZero() {
				t.Errorf("Retry-After %q: got refused until %v after that, %v; want it to end then", after, free, err)
			}
		}
		if fault == Limited && (statuses[http.StatusOK] < 20 || statuses[http.StatusTooManyRequests] < 20 || forms[true] < 5 || forms[false] < 5) || len(statuses) != map[Fault]int{Limited: 2, Broken: 5}[fault] {
			t.Errorf("%s: got %v, Retry-After in seconds %v; want half of the feeds refused, and both forms", fault, statuses, forms)
		}
	}
}

func TestFault_Slow(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 1, all(Slow))
	began := time.Now()
	_, body, err := get(t, w.Feeds(server.Port)[0].URL)
	if elapsed := time.Since(began); err != nil || elapsed < slowFor || elapsed > 3*slowFor || len(body) < 100 {
		t.Errorf("got %d bytes in %v, %v; want the document in %v", len(body), elapsed, err, slowFor)
	}
}

func TestFault_Hang(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 1, all(Hang))
	hasty := &http.Client{Timeout: 200 * time.Millisecond}
	if response, err := hasty.Get(w.Feeds(server.Port)[0].URL); err == nil {
		t.Errorf("got %v, want no answer", response)
	}
	waitFor(t, "the request's end", func() bool { return w.Summary().Status[0] == 1 })
}

// pollUntilDone waits for a condition.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout waiting for %s", what)
		}
	}
}

func TestFault_Reset(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 10, all(Reset))
	resets := 0
	for _, f := range w.Feeds(server.Port) {
		_, _, err := get(t, f.URL)
		if err == nil {
			t.Error("got the whole document, want an error")
		}
		if errors.Is(err, syscall.ECONNRESET) {
			resets++
		}
	}
	if resets == 0 {
		t.Error("got no connection reset")
	}
}

func TestFault_Truncated(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 5, all(Truncated))
	for _, f := range w.Feeds(server.Port) {
		response, body, err := get(t, f.URL, "Accept-Encoding", "identity")
		if !errors.Is(err, io.ErrUnexpectedEOF) || int64(len(body)) != response.ContentLength/2 {
			t.Errorf("got %d bytes of %d, %v; want half of them, and an error", len(body), response.ContentLength, err)
		}
	}
	if s := w.Summary(); s.Served != 0 {
		t.Errorf("got %d entries served, want none: no document was sent completely", s.Served)
	}
}

func TestFault_BombDecompressesToAGigabyte(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 1, all(Bomb))
	response, body, err := get(t, w.Feeds(server.Port)[0].URL, "Accept-Encoding", "gzip")
	if err != nil || response.Header.Get("Content-Encoding") != "gzip" || len(body) > 8<<20 {
		t.Fatalf("got %v, %d bytes, %v; want few in gzip", response, len(body), err)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, z); n != 1<<30 || err != nil {
		t.Errorf("got %d bytes, %v; want 1 GB", n, err)
	}
}

func TestFault_Redirects(t *testing.T) {
	t.Parallel()
	for fault, statuses := range map[Fault][]int{
		Redirect: {http.StatusFound, http.StatusTemporaryRedirect},
		Moved:    {http.StatusMovedPermanently, http.StatusPermanentRedirect},
	} {
		for i, u := range answersWith(t, fault, statuses...) {
			there := strings.Replace(u, "/feed/", "/new/", 1)
			first, _, _ := get(t, u)
			location, err := first.Location()
			if err != nil || location.String() != there {
				t.Errorf("%s: got to %v, %v; want %s", fault, location, err, there)
			}
			second, _, err := get(t, there)
			if err != nil || second.StatusCode != http.StatusOK {
				t.Errorf("%s: got %v, %v of feed %d; want the document", fault, second, err, i)
			}
		}
	}
}

func TestFaults_HaveTheirShares(t *testing.T) {
	t.Parallel()
	var faults Faults
	if err := faults.UnmarshalText([]byte("404=0.1, 403=0.05,hang=0.001")); err != nil {
		t.Fatal(err)
	}
	w, _ := newWeb(t, 20_000, func(s *Settings) { s.Faults = faults })
	got := map[Fault]int{}
	for i := range 20_000 {
		got[w.publisher(i).fault]++
	}
	for fault, want := range map[Fault]int{"404": 2000, "403": 1000, "hang": 20, "": 16980} {
		if n := got[fault]; float64(n) < 0.5*float64(want) || float64(n) > 1.5*float64(want) || want > 500 && (n < want*9/10 || n > want*11/10) {
			t.Errorf("%q: got %d feeds, want some %d", fault, n, want)
		}
	}
}

func TestFaults_UnmarshalErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"teapot=1":        `"teapot" is no fault; there are [404 410 403 429 5xx slow hang reset truncated bomb redirect moved]`,
		"404":             `404: "" is no share from 0 to 1; write it as 404=0.01`,
		"404=2":           `404: "2" is no share from 0 to 1; write it as 404=0.01`,
		"404=0.6,410=0.6": "the shares add up to 1.2, and should not to more than 1",
	} {
		var f Faults
		if err := f.UnmarshalText([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
