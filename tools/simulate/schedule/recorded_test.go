package schedule

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"feedmesh/tests/corpus"
)

// traces returns a world of the recorded times of links posted to hosts, a file beside the repository: with
// bursts as in human writing, and silent for months. It ends before a given time.
func traces(t *testing.T, end int64) World {
	t.Helper()
	type posted struct {
		Host  string
		Times []int64
	}
	var log bytes.Buffer
	for _, host := range corpus.Lines[posted](t, filepath.Join(corpus.Folder(t, "traces"), "host-submissions.jsonl.gz")) {
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

func TestPrice_BeatsTiersOnRecordedTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end          time.Time
		learn, score int
	}{
		"much":   {time.Date(2021, 7, 1, 0, 0, 0, 0, time.UTC), 60, 60},
		"little": {time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 60, 30}, // after two years with fewer records
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
