package subjects

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/storage"
)

// outbox is a [Publisher] that records messages.
type outbox []Message

func (o *outbox) Publish(_ context.Context, m ...Message) error {
	if err := Encode(m); err != nil {
		return err
	}
	*o = append(*o, m...)
	return nil
}

// awkward is text that encoders often lose or change.
const awkward = "<b>&amp;</b> \"q\" 'a' \\ / \t\r\n \x00\x1f\x7f \u2028\u2029\u0085\u00a0\ufeff\u200f\ufffd ключ 漢字 👩‍👩‍👧 e\u0301 %s {{.}} ]]>"

// fill sets all fields of v to nonzero values.
func fill(v reflect.Value, n *int) {
	*n++
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Date(2026, 1, 2, 3, 4, 5, *n*1000, time.UTC)
		return
	case *json.RawMessage:
		*at = json.RawMessage(fmt.Sprintf(`{"n":%d}`, *n))
		return
	case *[]byte:
		*at = []byte{0, 0xff, byte(*n)}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint(*n, awkward))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 256))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("fill: " + v.Type().String())
	}
}

func filled[T any]() T {
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	return v
}

// travels publishes a task and compares it after decoding.
func travels[T Task](t *testing.T, queue Queue[T], subject string, change func(*T)) {
	t.Helper()
	task := filled[T]()
	if change != nil {
		change(&task)
	}
	var out outbox
	if err := Publish(t.Context(), &out, queue, task); err != nil {
		t.Fatalf("publish %s: %v", queue.Name, err)
	}
	m := out[0]
	if m.Subject != subject || m.ID != task.ID() || m.ID == "" {
		t.Errorf("%s: got subject %q and ID %q, want %q and %q", queue.Name, m.Subject, m.ID, subject, task.ID())
	}
	if !bytes.Contains(m.Data, []byte("<b>&amp;</b>")) || !bytes.HasPrefix(m.Data, fmt.Appendf(nil, `{"schema":%d,"task":{`, Schema)) {
		t.Errorf("%s: got %.100s, want schema %d and unescaped markup", queue.Name, m.Data, Schema)
	}
	got, err := queue.Decode(m.Data)
	if err != nil || !reflect.DeepEqual(got, task) {
		t.Errorf("%s: got %+v, %v; want %+v", queue.Name, got, err, task)
	}
}

func TestQueue_TaskRoundTrip(t *testing.T) {
	t.Parallel()
	travels(t, CrawlQueue, "crawl.warm", func(task *Crawl) { task.Tier, task.Region = Warm, "" })
	travels(t, CrawlQueue, "crawl.hot.eu-west", func(task *Crawl) { task.Tier, task.Region = Hot, "eu-west" })
	if got := RegionOfCrawls(CrawlPartition(Hot, "eu-west")); got != "eu-west" {
		t.Errorf("got region %q, want eu-west", got)
	}
	travels(t, ParseQueue, "parse", nil)
	travels(t, PageQueue, "pages", nil)
	travels(t, PrepareQueue, "prepare", nil)
	travels(t, ClassifyQueue, "classify", nil)
	travels(t, ClusterQueue, "cluster.ru", func(task *Cluster) { task.Partition = "ru" })
	travels(t, StoreQueue, "store", nil)
	travels(t, IndexQueue, "index", nil)
	travels(t, ObserveQueue, "observe", func(task *Observe) { task.Observations[0].Partition = 0 })
	travels(t, ObserveQueue, "observe.3", func(task *Observe) { task.Observations[0].Partition = 3 })
}

func TestRecords_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, record := range []any{new(State), new(Lease), new(Agent), new(Quarantined)} {
		n := 0
		fill(reflect.ValueOf(record).Elem(), &n)
		data, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(record).Elem()).Interface()
		if err := json.Unmarshal(data, got); err != nil || !reflect.DeepEqual(got, record) {
			t.Errorf("got %+v, %v; want %+v", got, err, record)
		}
	}
}

// The server publishes the advisory without envelope.
func TestDeadLetter_DecodesServerAdvisory(t *testing.T) {
	t.Parallel()
	got, err := DeadLetterQueue.Decode([]byte(`{"type":"io.nats.jetstream.advisory.v1.max_deliver","id":"x","timestamp":"2026-01-02T03:04:05Z",
		"stream":"parse","consumer":"parse","stream_seq":7,"deliveries":8}`))
	if want := (DeadLetter{Stream: "parse", Consumer: "parse", Seq: 7, Deliveries: 8}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if got.ID() != "parse/7" {
		t.Errorf("ID: got %s, want parse/7", got.ID())
	}
}

func TestPublish_TooLargeTaskIsRejected(t *testing.T) {
	t.Parallel()
	task := Index{Reason: "x"}
	data, err := encode(task, Schema)
	if err != nil {
		t.Fatal(err)
	}
	capacity := MaxMessage - maxHeader - len(data)
	var out outbox
	task.Reason = strings.Repeat("x", 1+capacity)
	if err := Publish(t.Context(), &out, IndexQueue, task); err != nil || len(out) != 1 || len(out[0].Data) != MaxMessage-maxHeader {
		t.Errorf("largest task: got %v, want it published", err)
	}
	task.Reason += "x"
	if err := Publish(t.Context(), &out, IndexQueue, task); !errors.Is(err, ErrTooLarge) || len(out) != 1 {
		t.Errorf("one byte more: got %v and %d messages, want ErrTooLarge and 1", err, len(out))
	}
}

func TestPublish_EncodingErrorIsReturned(t *testing.T) {
	t.Parallel()
	var out outbox
	nan := Observe{Observations: []Observation{{Rate: nan()}}}
	if err := Publish(t.Context(), &out, ObserveQueue, nan); err == nil || len(out) != 0 {
		t.Errorf("got %v and %d messages, want an error and none", err, len(out))
	}
}

func nan() float64 {
	var zero float64
	return zero / zero
}

func TestDecode_NewerTaskReturnsDefinedFields(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"more fields":       fmt.Sprintf(`{"schema":%d,"task":{"feed_id":"a","more":1}}`, Schema+1),
		"schema comes last": fmt.Sprintf(`{"task":{"feed_id":"a"},"schema":%d}`, Schema+1),
	} {
		if got, err := ParseQueue.Decode([]byte(data)); !errors.Is(err, ErrNewer) || got.FeedID != "a" {
			t.Errorf("%s: got %+v, %v; want the task and ErrNewer", name, got, err)
		}
	}
	for _, data := range []string{`{"schema":1,"task":{"feed_id":"a","more":1}}`, `{"task":{"feed_id":"a"}}`} {
		if got, err := ParseQueue.Decode([]byte(data)); err != nil || got.FeedID != "a" {
			t.Errorf("%s: got %+v, %v; want it decoded", data, got, err)
		}
	}
}

func TestDecode_DamagedMessageIsAnError(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "x", `{"schema":1,"task":{"feed_id":7}}`, `{"schema":2,"task":["a"]}`, `{"schema":1,"task":{"feed_id":"a"}`, `{"schema":"1"}`, `[]`} {
		if _, err := ParseQueue.Decode([]byte(data)); err == nil || errors.Is(err, ErrNewer) || !strings.HasPrefix(err.Error(), "decode parse task: ") {
			t.Errorf("%s: got %v, want an error that names the record", data, err)
		}
	}
}

func TestDelay_GrowsToLastBackOff(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 5 * time.Second, 3: 30 * time.Second, 4: 2 * time.Minute, 5: 5 * time.Minute, 6: 5 * time.Minute, 1000: 5 * time.Minute,
	} {
		if got := StoreQueue.Delay(attempt); got != want {
			t.Errorf("attempt %d: got %v, want %v", attempt, got, want)
		}
	}
}

// The next version must compute the same IDs.
func TestIDs_AreStable(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	receipt := Receipt{FeedID: "f", Crawl: "c"}
	document := Document{Receipt: receipt}
	for _, x := range []struct {
		task Task
		want string
	}{
		{Crawl{Tier: Hot, Feeds: []Target{{FeedID: "f", Due: due}, {FeedID: "g", Due: due}}}, "418f34ff0b7bf27630cecfc5"},
		{Crawl{Tier: Hot, Probes: []Route{{ID: "eu"}, {ID: "us"}}, ProbesDue: due}, "a4d70032d33ba94f194f9c87"},
		{Parse{Receipt: receipt}, "f.c"},
		{Page{Document: document}, "f.c"},
		{Prepare{Document: document}, "f.c"},
		{Classify{Document: document}, "f.c"},
		{Cluster{Document: document, Partition: "en"}, "f.c"},
		{Cluster{Document: document, RejectedFence: 3}, "f.c.3"},
		{Store{Document: document}, "f.c.0"},
		{Store{Document: document, Fence: storage.Fence{Name: "en", Number: 3}}, "f.c.3"},
		{Index{Reason: "stored f.c", IDs: []string{"a", "b"}}, "b5c3a540643adb2f50a93b03"},
		{Observe{Source: "crawl/c"}, "crawl/c"},
		{DeadLetter{Stream: "parse", Seq: 7}, "parse/7"},
	} {
		if got := x.task.ID(); got != x.want {
			t.Errorf("%T: got %s, want %s", x.task, got, x.want)
		}
	}
}

func TestIDs_DifferForDifferentWork(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	crawl := func(feeds ...Target) string { return Crawl{Feeds: feeds}.ID() }
	probe := func(requested time.Time, ids ...string) string {
		task := Crawl{ProbesDue: requested}
		for _, id := range ids {
			task.Probes = append(task.Probes, Route{ID: id})
		}
		return task.ID()
	}
	index := func(why string, ids ...string) string { return Index{Reason: why, IDs: ids}.ID() }
	f, g := Target{FeedID: "f", Due: due}, Target{FeedID: "g", Due: due}
	for name, ids := range map[string][]string{
		"crawls":   {crawl(), crawl(f), crawl(g), crawl(f, g), crawl(g, f), crawl(Target{FeedID: "f", Due: due.Add(time.Microsecond)}), crawl(Target{FeedID: "fg", Due: due}), probe(due, "f"), probe(due, "g"), probe(due, "f", "g"), probe(due.Add(time.Second), "f")},
		"indexes":  {index("a"), index("b"), index("a", "1"), index("a", "2"), index("a", "1", "2"), index("a", "12"), index("b", "1")},
		"receipts": {Receipt{FeedID: "f", Crawl: "c"}.ID(), Receipt{FeedID: "f", Crawl: "d"}.ID(), Receipt{FeedID: "g", Crawl: "c"}.ID()},
		"give-ups": {DeadLetter{Stream: "a", Seq: 1}.ID(), DeadLetter{Stream: "a", Seq: 2}.ID(), DeadLetter{Stream: "b", Seq: 1}.ID()},
	} {
		if got := len(slices.Compact(slices.Sorted(slices.Values(ids)))); got != len(ids) {
			t.Errorf("%s: got %d IDs of %d tasks: %v", name, got, len(ids), ids)
		}
	}
}

// Equal tasks have equal IDs, wherever and however often they are published.
func TestIDs_EqualForSameWork(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	a := Crawl{Tier: Hot, Feeds: []Target{{FeedID: "f", Due: due}}}
	b := Crawl{Tier: Cold, Feeds: []Target{{FeedID: "f", Due: due.In(time.FixedZone("", 3600)), ETag: "x"}}}
	if a.ID() != b.ID() {
		t.Errorf("crawls of one feed due at one time: got %s and %s, want the same", a.ID(), b.ID())
	}
	c, d := Receipt{FeedID: "f", Crawl: "c", Fetched: due}, Receipt{FeedID: "f", Crawl: "c", Status: 200}
	if c.ID() != d.ID() {
		t.Errorf("receipts of one fetch: got %s and %s, want the same", c.ID(), d.ID())
	}
}

func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://Example.ORG/feed":       "example.org",
		"https://example.org:8443/feed": "example.org",
		"http://[::1]:80/feed":          "::1",
		"no address at all":             "no address at all",
		"http://%zz/":                   "http://%zz/",
		"":                              "",
	} {
		if got := HostOf(url); got != want {
			t.Errorf("%q: got host %q, want %q", url, got, want)
		}
	}
}
