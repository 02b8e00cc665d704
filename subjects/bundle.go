package subjects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// A bundle is many tasks in one message. Whoever publishes many at once makes
// bundles of them: a queue is on disk before it answers, and what that costs is
// for each message, not for each byte.
//
// A bundle is as many tasks as it has, each of which succeeds or fails by itself.
const (
	bundleTasks  = 32
	bundleBytes  = 512 << 10
	bundleSchema = 2 // the first version that reads them
)

// A Part is a task in a bundle: what would be in a message of its own.
type Part struct {
	Size   int                 `json:"size,omitempty"` // of Data, in bytes; older agents don't say
	ID     string              `json:"id"`
	Header map[string][]string `json:"header,omitempty"` // the trace it belongs to
	Data   json.RawMessage     `json:"message,omitempty"`
}

// Bundle returns the messages in bundles as large as is good, those with one
// subject in their order. What is large, what has no like, what an older agent may
// have to read, and what travels alone stays as it is.
func Bundle(messages []Message) []Message {
	var out []Message
	open := map[string]int{} // where in out a subject's last message is
	parts := map[int][]Message{}
	size := map[int]int{}
	for _, m := range messages {
		i, is := open[m.Subject]
		fits := is && !travelsAlone(m.Subject) && len(parts[i]) < bundleTasks && size[i]+len(m.Data) <= bundleBytes &&
			SchemaOf(m.Data) >= bundleSchema && SchemaOf(parts[i][0].Data) >= bundleSchema
		if !fits {
			i = len(out)
			open[m.Subject], out = i, append(out, m)
		}
		parts[i], size[i] = append(parts[i], m), size[i]+len(m.Data)
	}
	for i := range out {
		if len(parts[i]) > 1 {
			out[i] = bundled(parts[i])
		}
	}
	return out
}

// What a bundle has around its parts, and a part around its head and its data.
var (
	bundleHead = fmt.Appendf(nil, `{"schema":%d,"bundle":[`, bundleSchema)
	bundleEnd  = []byte("]}")
	beforeData = []byte(`,"message":`)
	afterData  = []byte("}")
)

// bundled returns messages of one subject as one.
func bundled(messages []Message) Message {
	size := len(bundleHead) + len(bundleEnd)
	for _, m := range messages {
		size += len(m.Data) + len(m.ID) + 256 // a header is a trace, if any
	}
	data, ids := append(make([]byte, 0, size), bundleHead...), sha256.New()
	for i, m := range messages {
		if i > 0 {
			data = append(data, ',')
		}
		// As one would write a Part, but that what is JSON is not read again.
		task := bytes.TrimSpace(m.Data)
		head, err := json.Marshal(Part{Size: len(task), ID: m.ID, Header: m.Header})
		if err != nil {
			panic(err) // strings only
		}
		data = append(append(data, head[:len(head)-1]...), beforeData...)
		data = append(append(data, task...), afterData...)
		fmt.Fprintln(ids, m.ID)
	}
	return Message{Subject: messages[0].Subject, ID: "bundle/" + hex.EncodeToString(ids.Sum(nil)[:12]), Data: append(data, bundleEnd...)}
}

// Unbundle returns the parts of a message, or nil for one that is no bundle. What
// they have is not yet known to be JSON, and belongs to data.
func Unbundle(data []byte) ([]Part, error) {
	rest, is := bytes.CutPrefix(data, bundleHead)
	if !is {
		return nil, nil
	}
	if parts, ok := cut(rest); ok {
		return parts, nil
	}
	var b struct {
		Parts []Part `json:"bundle"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("decode a bundle: %w", err)
	}
	return b.Parts, nil
}

// cut returns the parts of a bundle, of which rest is what follows its head,
// without looking at what is in them. It reports false if it does not say how long
// they are, or not as we write it.
func cut(rest []byte) (parts []Part, ok bool) {
	for {
		head, after, found := bytes.Cut(rest, beforeData)
		var p Part
		if !found || json.Unmarshal(append(slices.Clip(head), '}'), &p) != nil || p.Size <= 0 || p.Size > len(after) {
			return nil, false
		}
		p.Data, rest = json.RawMessage(after[:p.Size:p.Size]), after[p.Size:]
		parts = append(parts, p)
		if rest, ok = bytes.CutPrefix(rest, afterData); !ok {
			return nil, false
		}
		if bytes.Equal(rest, bundleEnd) {
			return parts, true
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(",")); !ok {
			return nil, false
		}
	}
}
