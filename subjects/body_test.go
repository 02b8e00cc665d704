package subjects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// asJSON decodes a message with encoding/json only.
func asJSON(data []byte) (Parse, int, error) {
	var e envelope[Parse]
	err := json.Unmarshal(data, &e)
	return e.Task, e.Schema, err
}

func TestBody_EncodedLikeEncodingJSON(t *testing.T) {
	for _, size := range []int{-1, 0, 1, 2, 3, 1000, 100_001} {
		task := Parse{
			Receipt: Receipt{FeedID: `<a> "body":"`, Crawl: `,"body":"eA=="}}`, Fetched: time.Now().UTC(), FullText: true},
			URL:     "https://a.test/?a=1&b=2", ContentType: "text/xml", Hub: "h", Self: "s",
		}
		if size >= 0 {
			task.Body = bytes.Repeat([]byte{0xFB, 0xFF, 0}, size)[:size]
		}
		before := task
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(envelope[Parse]{Schema: 2, Task: task}); err != nil {
			t.Fatal(err)
		}
		got, err := encode(task, 2)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("a body of %d bytes: got %.300s, %v, want %.300s", size, got, err, want.Bytes())
		}
		if !reflect.DeepEqual(task, before) {
			t.Errorf("a body of %d bytes: the task was changed", size)
		}
		if back, err := ParseQueue.Decode(got); err != nil || !reflect.DeepEqual(back, task) {
			t.Errorf("a body of %d bytes: got %+v back, %v", size, back, err)
		}
	}
}

func TestBody_DecodedLikeEncodingJSON(t *testing.T) {
	for _, data := range []string{
		`{"schema":2,"task":{"feed_id":"f","url":"u","body":"eHl6"}}`,
		`{"schema":2,"task":{"feed_id":"f","url":"u","body":"eHl6"}}` + " \n",
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6","url":"u"}}`,
		`{"schema":2, "task": {"feed_id":"f" , "body" : "eHl6"} }`,
		`{"task":{"feed_id":"f","body":"eHl6"},"schema":2}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6"},"more":1}`,
		`{"schema":2,"task":{"feed_id":"f","within":{"of":1,"body":"eHl6"}},"body":"eHl6"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eH\\u006c6"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6\\n"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6` + "\n" + `"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6` + "\r" + `"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"no base64"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":""}}`,
		`{"schema":2,"task":{"feed_id":"f","body":null}}`,
		`{"schema":2,"task":{"feed_id":"f"}}`,
		`{"schema":2,"task":{"feed_id":"f",,"body":"eHl6"}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6"}}}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6"}`,
		`{"schema":2,"task":{"feed_id":"f","body":"eHl6`,
		`,"body":"eHl6"}}`, ``,
	} {
		want, _, failed := asJSON([]byte(data))
		got, err := ParseQueue.Decode([]byte(data))
		if (err != nil) != (failed != nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v, %v", data, got, err, want, failed)
		}
	}
}

func TestBody_NewerSchemaDecodesDefinedFields(t *testing.T) {
	got, err := ParseQueue.Decode(fmt.Appendf(nil, `{"schema":%d,"task":{"feed_id":"f","body":"eHl6"}}`, Schema+1))
	if !errors.Is(err, ErrNewer) || got.FeedID != "f" || string(got.Body) != "xyz" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUnbundle_WithAndWithoutSizes(t *testing.T) {
	data := string(Bundle([]Message{message("parse", "a", 2, 10), message("parse", `,"message":{}`, 2, 20)})[0].Data)
	want, err := Unbundle([]byte(data))
	if err != nil || len(want) != 2 || !strings.Contains(data, `"size":41,`) {
		t.Fatalf("got %d parts of %s, %v", len(want), data, err)
	}
	if parts, ok := cutParts([]byte(data)[len(bundleHead):]); !ok || len(parts) != 2 {
		t.Errorf("%s: sizes not used", data)
	}
	for _, size := range []string{``, `"size":0,`, `"size":-1,`, `"size":40,`, `"size":42,`, `"size":999999,`, `"size":41,"more":{"message":1},`} {
		other := strings.Replace(data, `"size":41,`, size, 1)
		got, err := Unbundle([]byte(other))
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: got %d parts, %v", other, len(got), err)
		}
		for i := range got {
			if got[i].ID != want[i].ID || string(got[i].Data) != string(want[i].Data) {
				t.Errorf("%s: got %s %s, want %s %s", other, got[i].ID, got[i].Data, want[i].ID, want[i].Data)
			}
		}
	}
}
