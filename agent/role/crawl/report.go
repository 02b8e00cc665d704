package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/role/work"
	"feedmesh/subjects"
)

// A crawl task sends its buffered results at intervals, since one message carries many: first after firstReport, then
// whenever a quarter more of the task's time has passed, at most lastReport. So a result waits at most a quarter of the
// time that it took, and the few slow hosts of each task cause few messages.
const (
	firstReport = 100 * time.Millisecond
	lastReport  = 2 * time.Second
)

// reportBytes bounds the buffered documents; a full buffer is sent immediately.
const reportBytes = 1 << 20

// A report buffers the documents and observations of a crawl task and sends them while the task runs, so that
// feeds of fast hosts do not wait for slow ones. Its methods may be called concurrently.
type report struct {
	out       subjects.Publisher
	task      string
	partition int // of the schedule that dispatched the task

	mu           sync.Mutex
	observations []subjects.Observation
	documents    []subjects.Message
	size         int // of documents, in bytes
}

// sendUntil sends at intervals until ctx ends.
func (r *report) sendUntil(ctx context.Context) error {
	began := time.Now()
	for wait := firstReport; work.Sleep(ctx, wait); wait = min(max(time.Since(began)/4, firstReport), lastReport) {
		// A started call is completed even if ctx ends.
		if err := r.send(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// addDocument buffers a document. It is sent before observations added after it.
func (r *report) addDocument(ctx context.Context, document subjects.Parse) error {
	r.mu.Lock()
	r.documents, r.size = append(r.documents, subjects.ParseQueue.Message(document)), r.size+len(document.Body)
	full := r.size > reportBytes
	r.mu.Unlock()
	if full {
		return r.send(ctx)
	}
	return nil
}

// observation returns an observation of a feed of the task.
func (r *report) observation(t subjects.Target, now time.Time) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: t.FeedID, Partition: r.partition, Crawl: r.task, Fetched: now, FullText: t.FullText}}
}

// add buffers an observation.
func (r *report) add(o subjects.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observations = append(r.observations, o)
}

// send publishes the buffered documents, then the observations.
func (r *report) send(ctx context.Context) error {
	r.mu.Lock()
	observations, documents := r.observations, r.documents
	r.observations, r.documents, r.size = nil, nil, 0
	r.mu.Unlock()
	if len(documents) > 0 {
		if err := r.out.Publish(ctx, documents...); err != nil {
			return err
		}
	}
	if len(observations) == 0 {
		return nil
	}
	return subjects.Publish(ctx, r.out, subjects.ObserveQueue, subjects.Observe{
		Source: "crawl/" + r.task + "/" + feedsHash(observations), Observations: observations,
	})
}

// feedsHash distinguishes the parts of a task. A retry may split the task differently, and its parts must not
// be dropped as duplicates of the first attempt's.
func feedsHash(seen []subjects.Observation) string {
	ids := make([]string, len(seen))
	for i, o := range seen {
		ids[i] = o.FeedID
	}
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, " ")))
	return hex.EncodeToString(sum[:8])
}
