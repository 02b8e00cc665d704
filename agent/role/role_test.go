package role

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/storage"
	"feedmesh/storage/enginetest"
	"feedmesh/subjects"
)

// noon is the time of these tests.
var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

func metrics() *Metrics { return NewMetrics(prometheus.NewRegistry()) }

// An outbox is a publisher that records messages, or fails if err is set.
type outbox struct {
	mu       sync.Mutex
	messages []subjects.Message
	err      error
}

func (o *outbox) Schema(context.Context) int { return subjects.Schema }

func (o *outbox) Publish(ctx context.Context, m ...subjects.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	o.messages = append(o.messages, m...)
	return ctx.Err()
}

// sent returns and removes the published tasks of a queue.
func sent[T subjects.Task](t *testing.T, o *outbox, queue subjects.Queue[T]) []T {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var tasks []T
	o.messages = slices.DeleteFunc(o.messages, func(m subjects.Message) bool {
		if subjects.QueueOf(m.Subject) != queue.Name {
			return false
		}
		task, err := queue.Decode(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if task.ID() != m.ID || queue.Subject(task) != m.Subject {
			t.Errorf("got message %s on %s, want ID %s on %s as of its task", m.ID, m.Subject, task.ID(), queue.Subject(task))
		}
		tasks = append(tasks, task)
		return true
	})
	return tasks
}

// only returns the single task published to a queue, and fails if the outbox contains another message.
func only[T subjects.Task](t *testing.T, o *outbox, queue subjects.Queue[T]) T {
	t.Helper()
	tasks := sent(t, o, queue)
	if len(tasks) != 1 || len(o.messages) != 0 {
		t.Fatalf("got %d tasks on %s and %d elsewhere, want 1 and 0", len(tasks), queue.Name, len(o.messages))
	}
	return tasks[0]
}

// storeWith returns a store with feeds at these URLs.
func storeWith(t *testing.T, urls ...string) storage.Store {
	t.Helper()
	store := enginetest.Store(t)
	feeds := make([]storage.Feed, len(urls))
	for i, url := range urls {
		feeds[i] = storage.Feed{ID: storage.FeedID(url), URL: url, Added: noon}
	}
	if _, err := store.AddFeeds(t.Context(), feeds...); err != nil {
		t.Fatal(err)
	}
	return store
}

// eventually waits for a state, with a timeout of 30 seconds.
func eventually(t *testing.T, what string, state func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if state() {
			return
		}
	}
	t.Fatalf("timeout after 30 s: %s", what)
}

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		names, want, faults string
	}{
		{"all", "schedule crawl parse prepare classify cluster store index api", ""},
		{"store crawl crawl", "crawl store", ""},
		{"api all", "schedule crawl parse prepare classify cluster store index api", ""},
		{"", "", ""},
		{"crawl craw prase", "crawl", `roles: unknown role "craw"|roles: unknown role "prase"`},
		{"Crawl", "", `roles: unknown role "Crawl"; available: schedule, crawl, parse, prepare, classify, cluster, store, index, api`},
	} {
		roles, err := Select(strings.Fields(test.names))
		if got := strings.Join(Names(roles), " "); got != test.want {
			t.Errorf("%q: got roles %q, want %q", test.names, got, test.want)
		}
		if (err != nil) != (test.faults != "") {
			t.Errorf("%q: got %v, want %q", test.names, err, test.faults)
		}
		for fault := range strings.SplitSeq(test.faults, "|") {
			if err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("%q: got %v, want %q included", test.names, err, fault)
			}
		}
	}
}

func TestRoles_HaveDescriptions(t *testing.T) {
	for _, r := range All {
		if r.Name == "" || r.Description == "" || r.Run == nil || strings.Contains(r.Description, "\n") {
			t.Errorf("role %q: got description %q, want one line", r.Name, r.Description)
		}
		if r.Index && !r.Store {
			t.Errorf("role %s: needs an index but no store, which fills the index", r.Name)
		}
	}
}

func TestClock_TruncatesToMicroseconds(t *testing.T) {
	zone := time.FixedZone("somewhere", 3*3600)
	odd := Clock(func() time.Time { return time.Date(2026, 9, 1, 15, 0, 0, 1234, zone) })
	if got, want := odd.Now(), noon.Add(time.Microsecond); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Clock(nil).Now(); time.Since(got) > time.Minute || got.Location() != time.UTC {
		t.Errorf("got %v from the nil clock, want the real time in UTC", got)
	}
}
