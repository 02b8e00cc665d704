// Package busy measures what part of a time this machine and its Meilisearch were busy, by their own figures.
package busy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"
)

// Batches are what a Meilisearch processed in a time.
type Batches struct {
	Busy      time.Duration // it processes one batch at a time
	Count     int
	Documents int // received; those of a batch count where it ends
}

// pageSize is the number of batches in an answer of Meilisearch, the last first.
const pageSize = 500

// Meilisearch returns the batches of a server between two times. The batches that are in progress count up to the end.
func Meilisearch(ctx context.Context, url, key string, from, to time.Time) (all Batches, err error) {
	err = each(ctx, url, key, from, func(b *meilisearch.Batch) { all.add(b, from, to) })
	return all, err
}

// Steps returns the time that the batches of a server took for each step of indexing since a time, such as "merging word caches".
func Steps(ctx context.Context, url, key string, since time.Time) (map[string]time.Duration, error) {
	steps := map[string]time.Duration{}
	err := each(ctx, url, key, since, func(b *meilisearch.Batch) {
		if b.Stats == nil {
			return
		}
		for path, text := range b.Stats.ProgressTrace {
			step, is := strings.CutPrefix(path, "processing tasks > indexing > ")
			if took, err := time.ParseDuration(text); is && err == nil && !strings.Contains(step, " > ") { // else a part of a step
				steps[step] += took
			}
		}
	})
	return steps, err
}

// each calls do for the batches of a server that had not ended at a time, the last first.
func each(ctx context.Context, url, key string, from time.Time, do func(*meilisearch.Batch)) error {
	server := meilisearch.New(url, meilisearch.WithAPIKey(key))
	defer server.Close()
	query := &meilisearch.BatchesQuery{Limit: pageSize}
	for {
		page, err := server.GetBatchesWithContext(ctx, query)
		if err != nil {
			return fmt.Errorf("read the batches of Meilisearch: %w", err)
		}
		for _, b := range page.Results {
			if !b.FinishedAt.IsZero() && b.FinishedAt.Before(from) {
				return nil // the others ended before
			}
			do(b)
		}
		if page.Next == 0 {
			return nil
		}
		query.From = int64(page.Next)
	}
}

// add adds the part of a batch that is between the times.
func (all *Batches) add(b *meilisearch.Batch, from, to time.Time) {
	began, ended := b.StartedAt, b.FinishedAt
	if ended.IsZero() {
		ended = to
	}
	if began.Before(from) {
		began = from
	}
	if ended.After(to) {
		ended = to
	} else if n, is := b.Details["receivedDocuments"].(float64); is && !b.FinishedAt.IsZero() {
		all.Documents += int(n)
	}
	if ended.After(began) {
		all.Busy += ended.Sub(began)
		all.Count++
	}
}

// Cores are the times that this machine's cores spent since its start.
type Cores struct{ busy, total time.Duration }

// jiffy is the unit of /proc/stat.
const jiffy = 10 * time.Millisecond

// ReadCores returns the times up to now. It needs Linux.
func ReadCores() (c Cores, err error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return c, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return c, errors.New("/proc/stat: no line of all cores: " + line)
	}
	// user, nice, system, idle, iowait, irq, softirq, steal; the others are parts of these.
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return c, fmt.Errorf("/proc/stat: %w", err)
		}
		c.total += time.Duration(n) * jiffy
		if i != 3 && i != 4 {
			c.busy += time.Duration(n) * jiffy
		}
	}
	return c, nil
}

// Since returns the part of all cores' time, from 0 to 1, that was spent since an earlier state.
func (c Cores) Since(before Cores) float64 {
	return float64(c.busy-before.busy) / float64(max(c.total-before.total, 1))
}
