package subjects

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func message(subject, id string, schema, size int) Message {
	return Message{Subject: subject, ID: id, Data: fmt.Appendf(nil, `{"schema":%d,"task":{"text":%q}}`+"\n", schema, strings.Repeat("x", size))}
}

func TestBundle_RoundTrip(t *testing.T) {
	in := []Message{message("store", "a", 2, 10), message("store", `b"\u003c`, 2, 0)}
	in[1].Header = map[string][]string{"traceparent": {"00-1-2-01"}}
	out := Bundle(in)
	if len(out) != 1 || out[0].Subject != "store" || SchemaOf(out[0].Data) != 2 {
		t.Fatalf("got %+v, want one message", out)
	}
	parts, err := Unbundle(out[0].Data)
	if err != nil || len(parts) != 2 {
		t.Fatalf("got %d parts and %v, want 2", len(parts), err)
	}
	for i, part := range parts {
		if part.ID != in[i].ID || string(part.Data)+"\n" != string(in[i].Data) || !reflect.DeepEqual(part.Header, in[i].Header) {
			t.Errorf("got %+v, want %+v", part, in[i])
		}
	}
	if again := Bundle(in); again[0].ID != out[0].ID {
		t.Errorf("got IDs %s and %s of the same bundle", out[0].ID, again[0].ID)
	}
}

func TestBundle_LeavesMessagesSingle(t *testing.T) {
	many := make([]Message, 2*bundleTasks+1)
	for i := range many {
		many[i] = message("index", fmt.Sprint(i), 2, 10)
	}
	for _, test := range []struct {
		name string
		in   []Message
		want []int // parts of each; 0: as it was
	}{
		{"nothing", nil, nil},
		{"a single message", []Message{message("index", "a", 2, 10)}, []int{0}},
		{"one message of each queue", []Message{message("index", "a", 2, 10), message("observe", "b", 2, 10)}, []int{0, 0}},
		{"two alternating queues", []Message{
			message("index", "a", 2, 10), message("observe", "b", 2, 10), message("index", "c", 2, 10), message("observe", "d", 2, 10),
		}, []int{2, 2}},
		{"for older agents", []Message{message("index", "a", 1, 10), message("index", "b", 2, 10), message("index", "c", 1, 10)}, []int{0, 0, 0}},
		{"for older agents, among others", []Message{message("index", "a", 2, 10), message("index", "b", 2, 10), message("index", "c", 1, 10)}, []int{2, 0}},
		{"large", []Message{message("index", "a", 2, bundleBytes), message("index", "b", 2, 10), message("index", "c", 2, 10)}, []int{0, 2}},
		{"queue with long tasks", []Message{message("pages", "a", 2, 10), message("pages", "b", 2, 10)}, []int{0, 0}},
		{"many", many, []int{bundleTasks, bundleTasks, 0}},
	} {
		var got []int
		for _, m := range Bundle(test.in) {
			parts, err := Unbundle(m.Data)
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			got = append(got, len(parts))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v parts, want %v", test.name, got, test.want)
		}
	}
}

func TestUnbundle_DamagedBundleIsAnError(t *testing.T) {
	whole := Bundle([]Message{message("index", "a", 2, 10), message("index", "b", 2, 10)})[0].Data
	if _, err := Unbundle(whole[:len(whole)-3]); err == nil {
		t.Error("got no error")
	}
	if parts, err := Unbundle([]byte(`{"schema":2,"task":{}}`)); parts != nil || err != nil {
		t.Errorf("got %v, %v for a message that is not a bundle", parts, err)
	}
}
