package subjects

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// served is a queue without the type of its tasks.
type served struct {
	name           string
	subjects       []string
	partitions     []string
	tries          int
	lease, silence time.Duration
	backOff        []time.Duration
	stream         jetstream.StreamConfig
	consumer       func(partition string) jetstream.ConsumerConfig
}

func (q Queue[T]) served() served {
	return served{q.Name, q.sources(), q.Partitions, q.MaxDeliver, q.Timeout, q.AckWait, q.BackOff, q.stream(), q.Consumer}
}

// allServed returns the queues of the table.
func allServed() (all []served) {
	for _, q := range queues {
		all = append(all, q.(interface{ served() served }).served())
	}
	return all
}

func TestStreams_QueuesAreBoundedAndRejectNewTasks(t *testing.T) {
	t.Parallel()
	for _, q := range allServed() {
		s := q.stream
		if s.Discard != jetstream.DiscardNew || s.Retention != jetstream.WorkQueuePolicy || s.Storage != jetstream.FileStorage {
			t.Errorf("%s: got %v, %v, %v; want a work queue on disk that rejects new messages when full", q.name, s.Discard, s.Retention, s.Storage)
		}
		if s.MaxMsgs <= 0 || s.MaxBytes < MaxMessage || s.MaxMsgSize != MaxMessage {
			t.Errorf("%s: got bounds of %d messages of %d bytes, %d bytes in total; want space for one message", q.name, s.MaxMsgs, s.MaxMsgSize, s.MaxBytes)
		}
		if s.Duplicates != InFlightTimeout || s.MaxAge != 0 {
			t.Errorf("%s: got a duplicate window of %v and a maximum age of %v, want %v and none", q.name, s.Duplicates, s.MaxAge, InFlightTimeout)
		}
		if !slices.ContainsFunc(streams(1, 1), func(cfg jetstream.StreamConfig) bool { return cfg.Name == q.name }) {
			t.Errorf("%s: not declared", q.name)
		}
	}
}

func TestStreams_BucketsAreBounded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{ScheduleBucket, HostBucket, SubscriptionBucket, ResponseBucket, RuleBucket, ProxyBucket, LeaseBucket, AgentBucket} {
		at := slices.IndexFunc(streams(1, 1), func(cfg jetstream.StreamConfig) bool { return cfg.Name == "KV_"+name })
		if at < 0 {
			t.Errorf("%s: not declared", name)
			continue
		}
		s := streams(1, 1)[at]
		if s.MaxBytes <= 0 || s.MaxMsgsPerSubject != 1 || (s.Discard == jetstream.DiscardNew) == (name == ResponseBucket) || s.AllowDirect == (name == SubscriptionBucket || name == ResponseBucket) || !s.DenyDelete || !s.AllowRollup {
			t.Errorf("%s: got %+v, want a bounded bucket with one value for each key", name, s)
		}
	}
	if got, want := ValueKey(ScheduleBucket, "f"), "$KV.schedule.f"; got != want {
		t.Errorf("key: got %s, want %s", got, want)
	}
}

func TestStreams_TotalSizeIsBounded(t *testing.T) {
	t.Parallel()
	var queued int64
	for _, q := range allServed() {
		queued += q.stream.MaxBytes
	}
	if queued >= 1<<30 {
		t.Errorf("queues: got %d bytes, want less than 1 GB", queued)
	}
	if got := MaxBytes(1); got < queued || got >= 4<<30 {
		t.Errorf("all streams: got %d bytes, want less than 4 GB", got)
	}
	for _, s := range streams(1, 1) {
		if s.MaxBytes <= 0 {
			t.Errorf("%s: not bounded", s.Name)
		}
	}
}

func TestStreams_SubjectsAreDisjoint(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range streams(1, 1) {
		if len(s.Subjects) == 0 {
			t.Errorf("%s: got no subjects", s.Name)
		}
		for _, subject := range s.Subjects {
			first, _, _ := strings.Cut(strings.TrimPrefix(subject, "$"), ".")
			if first == "KV" {
				first = subject
			}
			if before, is := seen[first]; is && before != s.Name {
				t.Errorf("streams %s and %s share subject %s", before, s.Name, first)
			}
			seen[first] = s.Name
		}
	}
}

func TestConsumer_ExplicitAckAndMaxDeliver(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, q := range allServed() {
		partitions := q.partitions
		if partitions == nil {
			partitions = []string{""}
		}
		var filters []string
		for _, partition := range partitions {
			c := q.consumer(partition)
			if names[c.Durable] {
				t.Errorf("duplicate consumer name %s", c.Durable)
			}
			names[c.Durable] = true
			filters = append(filters, c.FilterSubject)
			if c.AckPolicy != jetstream.AckExplicitPolicy || c.AckWait != q.silence || c.BackOff[0] != q.silence {
				t.Errorf("%s: got ack policy %v, AckWait %v, backoff %v; want explicit, %v", c.Durable, c.AckPolicy, c.AckWait, c.BackOff, q.silence)
			}
			if c.MaxDeliver != q.tries || c.MaxDeliver <= len(c.BackOff) { // the server refuses it otherwise
				t.Errorf("%s: got %d deliveries, want %d, more than the %d backoffs", c.Durable, c.MaxDeliver, q.tries, len(c.BackOff))
			}
			if c.MaxAckPending <= 1_000 || c.MaxRequestBatch <= 0 {
				t.Errorf("%s: got MaxAckPending %d and MaxRequestBatch %d, want both above the server's defaults", c.Durable, c.MaxAckPending, c.MaxRequestBatch)
			}
		}
		if q.name == ObserveQueue.Name { // the schedule removes tasks of partitions that it does not have
			filters = append(filters, strings.ReplaceAll(q.consumer("3").FilterSubject, "3", "*"))
		}
		if q.name == CrawlQueue.Name { // the schedule removes tasks of regions without crawlers
			filters = append(filters, q.consumer("*.*").FilterSubject)
		}
		if !slices.Equal(filters, q.subjects) {
			t.Errorf("%s: its consumers take %v, it accepts %v: what no consumer takes would stay for ever", q.name, filters, q.subjects)
		}
		if q.lease < q.silence || len(q.backOff) == 0 || !slices.IsSorted(q.backOff) {
			t.Errorf("%s: got timeout %v, AckWait %v, backoff %v; want ascending times", q.name, q.lease, q.silence, q.backOff)
		}
	}
}

func TestQueueNames_InItemOrder(t *testing.T) {
	t.Parallel()
	var want []string
	for _, q := range allServed() {
		if q.name != DeadLetterQueue.Name {
			want = append(want, q.name)
		}
	}
	if !slices.Equal(QueueNames, want) {
		t.Errorf("got %v, want %v", QueueNames, want)
	}
	for subject, queue := range map[string]string{"parse": "parse", "crawl.hot": "crawl", ClusterQueue.Subject(Cluster{Partition: OtherLanguages}): "cluster"} {
		if got := QueueOf(subject); got != queue {
			t.Errorf("QueueOf(%s): got %s, want %s", subject, got, queue)
		}
	}
	if got, want := QuarantineSubject("parse"), "quarantine.parse"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
