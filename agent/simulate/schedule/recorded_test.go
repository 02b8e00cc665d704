package schedule

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// traces returns a world of times at which links to hosts were posted, which lie
// next to the repository: bursty as what people write is, and silent for months.
// It ends before a time.
func traces(t *testing.T, end int64) World {
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
		for _, at := range host.Times {
			if at >= end {
				continue
			}
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
	for name, c := range map[string]struct {
		end          time.Time
		learn, score int
	}{
		"much":   {time.Date(2021, 7, 1, 0, 0, 0, 0, time.UTC), 60, 60},
		"little": {time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 60, 30}, // after two years in which less was recorded
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := traces(t, c.end.Unix())
			span, err := w.Last(c.learn, c.score)
			if err != nil {
				t.Fatal(err)
			}
			tiers, price := compare(t, w, span)
			t.Logf("%d items: mean %.0f of %.0f s, 95 %% %.0f of %.0f s", price.Items, price.Mean, tiers.Mean, price.P95, tiers.P95)
			if price.Mean > 0.8*tiers.Mean || price.P95 > tiers.P95 {
				t.Errorf("an item waits %.0f s, 95 %% at most %.0f s; with tiers %.0f and %.0f", price.Mean, price.P95, tiers.Mean, tiers.P95)
			}
		})
	}
}
