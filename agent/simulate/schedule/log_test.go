package schedule

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/policy"
)

func TestALogIsRead(t *testing.T) {
	t.Parallel()
	w, err := ReadLog(strings.NewReader("feed,published\na,2026-01-31T12:00:00Z\nb,1769860800\na,2026-01-30T12:00:00+03:00\n"))
	if err != nil || len(w.Feeds) != 2 {
		t.Fatalf("got %+v, %v, want two feeds", w, err)
	}
	a, b := w.Feeds[0].Published, w.Feeds[1].Published
	if len(a) != 2 || a[0] != 1769763600 || a[1] != 1769860800 || len(b) != 1 || b[0] != 1769860800 {
		t.Errorf("got %v and %v", a, b)
	}
}

func TestWhatIsWrongWithALogIsSaid(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"":                       "no items",
		"feed,published\n":       "no items",
		"a,1769860800\nb,noon\n": `line 2: "noon" is no time`,
		"a,1769860800,x\n":       "wrong number of fields",
		"a,-5\n":                 `"-5" is no time`,
		"a,\"1769860800\nb,1\n":  "feed,published",
	} {
		if _, err := ReadLog(strings.NewReader(log)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", log, err, want)
		}
	}
}

func TestTheSpanOfALogEndsWithIt(t *testing.T) {
	t.Parallel()
	w := World{Feeds: []Feed{{Published: []int64{begin + 5}}, {Published: []int64{begin + 10*daySeconds + 3}}}}
	s, err := w.Last(8, 3)
	if err != nil || s.Begin != begin || s.end() != begin+11*daySeconds {
		t.Errorf("got %+v, %v, want from %d on", s, err, begin)
	}
	if _, err := w.Last(9, 3); err == nil || !strings.Contains(err.Error(), "the log is of 11 days and not of 12") {
		t.Errorf("got %v, want that it is too short", err)
	}
}

// traces returns a world of times at which links to hosts were posted, which lie
// next to the repository: bursty as what people write is.
func traces(t *testing.T) World {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	file, err := os.Open(filepath.Join(filepath.Dir(dir), "shared", "data", "traces", "host-submissions.jsonl.gz"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there are no recorded traces next to the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for lines := json.NewDecoder(plain); lines.More(); {
		var host struct {
			Host  string
			Times []int64
		}
		if err := lines.Decode(&host); err != nil {
			t.Fatal(err)
		}
		if len(host.Times) < 500 {
			continue // most of these are dead for months, which price polls once a day
		}
		for _, at := range host.Times {
			log.WriteString(host.Host + "," + time.Unix(at, 0).UTC().Format(time.RFC3339) + "\n")
		}
	}
	w, err := ReadLog(&log)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestPriceBeatsTiersOnRecordedTimes(t *testing.T) {
	t.Parallel()
	w := traces(t)
	if testing.Short() {
		t.Skip("skipped by -short: it simulates a million polls")
	}
	span, err := w.Last(180, 180)
	if err != nil {
		t.Fatal(err)
	}
	results, err := Compare(t.Context(), w, span, []string{policy.KindTiers, policy.KindUniform, policy.KindPrice}, 225*time.Second, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Logf("%s: %.0f requests a day, %d items, mean %.1f min, 95 %% %.1f min, of feeds %.1f min", r.Policy, r.Requests, r.Items, r.Mean/60, r.P95/60, r.FeedMean/60)
	}
	if tiers, price := results[0], results[2]; price.Mean >= tiers.Mean {
		t.Errorf("an item waits %.0f s, %.0f s with tiers", price.Mean, tiers.Mean)
	}
}
