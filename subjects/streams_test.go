package subjects

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A served is a queue without the type of its tasks.
type served struct {
	name, subjects string
	lanes          []string
	tries          int
	lease, silence time.Duration
	backOff        []time.Duration
	stream         jetstream.StreamConfig
	consumer       func(lane string) jetstream.ConsumerConfig
}

func of[T Task](q Queue[T]) served {
	return served{q.Name, q.all(), q.Lanes, q.Tries, q.Lease, q.Silence, q.BackOff, q.stream(), q.Consumer}
}

var queues = []served{
	of(Crawls), of(Parses), of(Pages), of(Prepares), of(Classifys), of(Clusters), of(Stores), of(Indexes), of(Observes), of(GiveUps),
}

func TestQueuesAreBoundedAndRefuseWhatIsNew(t *testing.T) {
	t.Parallel()
	for _, q := range queues {
		s := q.stream
		if s.Discard != jetstream.DiscardNew || s.Retention != jetstream.WorkQueuePolicy || s.Storage != jetstream.FileStorage {
			t.Errorf("%s: got %v, %v, %v; want a work queue on disk that refuses what is new when full", q.name, s.Discard, s.Retention, s.Storage)
		}
		if s.MaxMsgs <= 0 || s.MaxBytes < MaxMessage || s.MaxMsgSize != MaxMessage {
			t.Errorf("%s: got at most %d messages of %d bytes, %d in all; want bounds that one message fits in", q.name, s.MaxMsgs, s.MaxMsgSize, s.MaxBytes)
		}
		if s.Duplicates != InFlight || s.MaxAge != 0 {
			t.Errorf("%s: got duplicates told for %v and an age of %v, want %v and none", q.name, s.Duplicates, s.MaxAge, InFlight)
		}
		if !slices.ContainsFunc(streams(1), func(cfg jetstream.StreamConfig) bool { return cfg.Name == q.name }) {
			t.Errorf("%s: it is not declared", q.name)
		}
	}
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{ScheduleBucket, HostBucket, SubscriptionBucket, AnswerBucket, RuleBucket, ProxyBucket, LeaseBucket, AgentBucket} {
		at := slices.IndexFunc(streams(1), func(cfg jetstream.StreamConfig) bool { return cfg.Name == "KV_"+name })
		if at < 0 {
			t.Errorf("%s is not declared", name)
			continue
		}
		s := streams(1)[at]
		if s.MaxBytes <= 0 || s.MaxMsgsPerSubject != 1 || (s.Discard == jetstream.DiscardNew) == (name == AnswerBucket) || s.AllowDirect == (name == SubscriptionBucket || name == AnswerBucket) || !s.DenyDelete || !s.AllowRollup {
			t.Errorf("%s: got %+v, want a bounded bucket of one value a key", name, s)
		}
	}
	if got, want := StateKey("f"), "$KV.schedule.f"; got != want {
		t.Errorf("the key of a state: got %s, want %s", got, want)
	}
}

func TestAllStreamsFitOnADisk(t *testing.T) {
	t.Parallel()
	var queued int64
	for _, q := range queues {
		queued += q.stream.MaxBytes
	}
	if queued >= 1<<30 {
		t.Errorf("the queues: got %d bytes, want less than 1 GB", queued)
	}
	if got := MaxBytes(); got < queued || got >= 4<<30 {
		t.Errorf("all: got %d bytes, want less than 4 GB", got)
	}
	for _, s := range streams(1) {
		if s.MaxBytes <= 0 {
			t.Errorf("%s is not bounded", s.Name)
		}
	}
}

func TestStreamsShareNoSubject(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range streams(1) {
		if len(s.Subjects) != 1 {
			t.Errorf("%s: got subjects %v, want one", s.Name, s.Subjects)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(s.Subjects[0], "$"), ".")
		if first == "KV" {
			first = s.Subjects[0]
		}
		if before, is := seen[first]; is {
			t.Errorf("%s and %s share %s", before, s.Name, first)
		}
		seen[first] = s.Name
	}
}

func TestConsumersAcknowledgeEachTaskAndGiveUpSomeday(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, q := range queues {
		for _, lane := range append([]string{""}, q.lanes...) {
			c := q.consumer(lane)
			if names[c.Durable] {
				t.Errorf("two consumers are named %s", c.Durable)
			}
			names[c.Durable] = true
			want := q.subjects
			if lane != "" {
				want = q.name + "." + lane
			}
			if c.FilterSubject != want {
				t.Errorf("%s: got the subject %s, want %s", c.Durable, c.FilterSubject, want)
			}
			if c.AckPolicy != jetstream.AckExplicitPolicy || c.AckWait != q.silence || c.BackOff[0] != q.silence {
				t.Errorf("%s: got %v within %v, then %v; want it explicit, within %v", c.Durable, c.AckPolicy, c.AckWait, c.BackOff, q.silence)
			}
			if c.MaxDeliver != q.tries || c.MaxDeliver <= len(c.BackOff) { // the server refuses it otherwise
				t.Errorf("%s: got %d deliveries, want %d, and more than the %d back-offs", c.Durable, c.MaxDeliver, q.tries, len(c.BackOff))
			}
			if c.MaxAckPending <= 1_000 || c.MaxRequestBatch <= 0 {
				t.Errorf("%s: got %d unacknowledged and %d a request, want bounds above the server's own", c.Durable, c.MaxAckPending, c.MaxRequestBatch)
			}
		}
		if q.lease < q.silence || len(q.backOff) == 0 || !slices.IsSorted(q.backOff) {
			t.Errorf("%s: got a lease of %v, silence %v, back-off %v; want them to grow", q.name, q.lease, q.silence, q.backOff)
		}
	}
}

func TestQueueNamesAreThoseOfTheQueuesOfAnItem(t *testing.T) {
	t.Parallel()
	var want []string
	for _, q := range queues {
		if q.name != GiveUps.Name {
			want = append(want, q.name)
		}
	}
	if !slices.Equal(QueueNames, want) {
		t.Errorf("got %v, want %v", QueueNames, want)
	}
	for subject, queue := range map[string]string{"parse": "parse", "crawl.hot": "crawl", Clusters.Subject(Cluster{Lane: OtherLanguages}): "cluster"} {
		if got := QueueOf(subject); got != queue {
			t.Errorf("QueueOf(%s): got %s, want %s", subject, got, queue)
		}
	}
	if got, want := QuarantineSubject("parse"), "quarantine.parse"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
