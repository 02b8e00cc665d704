package simulate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLedger_DetectsOverlappingRequests(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 4, func(s *Settings) { s.Hosts, s.Faults = 2, Faults{Hang: 1} })
	urls := w.Feeds(server.Port)
	// The requests end when all have reached the server, which takes at most the returned number of seconds.
	together := func(feeds ...int) (took float64) {
		began, before := time.Now(), w.Summary().Requests
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var group sync.WaitGroup
		for _, i := range feeds {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, urls[i].URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			group.Go(func() { http.DefaultClient.Do(request) })
		}
		waitFor(t, "the requests", func() bool { return w.Summary().Requests == before+len(feeds) })
		took = time.Since(began).Seconds()
		cancel()
		group.Wait()
		waitFor(t, "the requests' end", func() bool { s := w.Summary(); return s.Status[0] == s.Requests })
		return took
	}
	together(0, 1)
	if s := w.Summary(); s.Overlaps != 0 || s.MostAtOnce != 1 || s.LeastSpacing != 0 {
		t.Errorf("one request to each of two hosts: got %+v, want no overlap", s)
	}
	took := together(0, 2)
	if s := w.Summary(); s.Overlaps != 1 || s.MostAtOnce != 2 || s.LeastSpacing > took {
		t.Errorf("two requests to one host: got %+v, want one overlap and start times within %v s", s, took)
	}
}

func TestLedger_DetectsEarlyRequests(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 80, func(s *Settings) { s.Faults = Faults{Limited: 1} })
	rejected := 0
	for _, f := range w.Feeds(server.Port) {
		response, _, err := get(t, f.URL)
		if err != nil {
			t.Fatal(err)
		}
		if early := w.Summary().Early; early != rejected {
			t.Errorf("got %d early polls of %d refused, want none by a first poll", early, rejected)
		}
		if response.StatusCode == http.StatusTooManyRequests {
			rejected++
		}
		get(t, f.URL)
	}
	if rejected == 0 {
		t.Error("got no feed refused, want half of them")
	}
	if s := w.Summary(); s.Early != rejected || s.Status[http.StatusTooManyRequests] != 2*rejected {
		t.Errorf("got %d early polls, want that of each of %d feeds before it was time", s.Early, rejected)
	}
}

func TestLedger_MeasuresTheSpacing(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 2, nil)
	for i, f := range w.Feeds(server.Port) {
		time.Sleep(time.Duration(i) * 50 * time.Millisecond)
		get(t, f.URL)
	}
	if got := w.Summary().LeastSpacing; got < 0.05 || got > 5 {
		t.Errorf("got %v s between two polls, want 0.05 or somewhat more", got)
	}
}

func TestLedger_CountsConditionalRequests(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 30, nil)
	able := 0
	for i, f := range w.Feeds(server.Port) {
		p := w.publisher(i)
		first, _, _ := get(t, f.URL)
		if p.tags {
			get(t, f.URL, "If-None-Match", first.Header.Get("ETag"))
			get(t, f.URL)
			get(t, f.URL)
			get(t, f.URL)
			able++
		}
	}
	if got := w.Summary().Conditional; able < 10 || got != 0.25 {
		t.Errorf("of %d feeds: got a share of %v, want 0.25: first polls do not count", able, got)
	}
}

// A redirect and the request that follows it are one poll.
func TestLedger_RedirectIsOnePoll(t *testing.T) {
	t.Parallel()
	w, server := newWeb(t, 1, all(Moved))
	response, err := http.Get(w.Feeds(server.Port)[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	get(t, response.Request.URL.String()) // from now on the client uses the new URL
	if s := w.Summary(); s.Requests != 3 || s.Polls != 2 {
		t.Errorf("got %d polls of %d requests, want 2 of 3", s.Polls, s.Requests)
	}
}

// All entries are accounted for, even if feeds publish faster than clients read.
func TestLedger_RecordsEachEntry(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	clock := Clock{10_000, time.Now()}
	var skipped atomic.Int64 // nanoseconds
	w, server := newWeb(t, 30, func(s *Settings) {
		s.Log, s.Rate = log, maxRate
		s.Now = func() time.Time { return clock.Now().Add(time.Duration(skipped.Load())) }
	})
	before := w.Summary()
	urls := w.Feeds(server.Port)
	for round := range 10 {
		for _, f := range urls {
			if _, _, err := get(t, f.URL); err != nil {
				t.Fatal(err)
			}
		}
		if round == 5 {
			skipped.Store(int64(6 * time.Hour)) // the busiest feeds publish more than their windows
		}
	}
	s := w.Summary()
	if s.Published <= before.Published || s.Served == 0 || s.Polled != 30 || s.MeanDelay <= 0 || s.Days <= 0 || s.PollsADay*s.Days < 299 {
		t.Errorf("got %+v, want entries published, served, and how late", s)
	}
	visits := readLog(t, log)
	seen, lost := map[int][]Published{}, 0
	for _, v := range visits {
		if v.Status != http.StatusOK || v.End.Before(v.Start) || v.Host != "127.0.0.1" || v.Bytes == 0 {
			t.Errorf("got %+v, want a document", v)
		}
		for _, e := range v.New {
			if e.At.After(v.Start) {
				t.Errorf("entry %+v of feed %d was served before, at %v", e, v.Feed, v.Start)
			}
			if earlier := seen[v.Feed]; len(earlier) > 0 {
				lost += e.Seq - earlier[len(earlier)-1].Seq - 1
			}
			seen[v.Feed] = append(seen[v.Feed], e)
		}
	}
	served := 0
	for feed, entries := range seen {
		served += len(entries)
		if !slices.IsSortedFunc(entries, func(a, b Published) int { return a.Seq - b.Seq }) {
			t.Errorf("feed %d: got entries more than once", feed)
		}
	}
	if len(visits) != s.Requests || served != s.Served || lost != s.Lost || lost == 0 {
		t.Errorf("the log has %d requests, %d entries, %d lost; the ledger %+v", len(visits), served, lost, s)
	}
	if _, body, _ := get(t, fmt.Sprintf("http://127.0.0.1:%d/log", server.Port)); bytes.Count(body, []byte("\n")) != len(visits) {
		t.Errorf("/log and the file differ")
	}
	var page Summary
	_, body, _ := get(t, fmt.Sprintf("http://127.0.0.1:%d/ledger", server.Port))
	if err := json.Unmarshal(body, &page); err != nil || page.Served != s.Served || page.Status[http.StatusOK] != 300 {
		t.Errorf("/ledger: got %s, %v; want the summary", body, err)
	}
}

func readLog(t *testing.T, path string) (visits []Visit) {
	t.Helper()
	text := mustRead(t, path)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var v Visit
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		visits = append(visits, v)
	}
	return visits
}

// The log is appended to: a second web does not truncate the first one's.
func TestLog_AppendsVisits(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	for range 2 {
		w, server := newWeb(t, 1, func(s *Settings) { s.Log = log })
		get(t, w.Feeds(server.Port)[0].URL)
		if err := errors.Join(server.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}
	if visits := readLog(t, log); len(visits) != 2 {
		t.Errorf("got %d lines, want 2", len(visits))
	}
	if _, err := NewWeb(Settings{Feeds: 1, Hosts: 1, Rate: 1, Log: t.TempDir()}); err == nil {
		t.Error("got no error of a log that can't be opened")
	}
}
