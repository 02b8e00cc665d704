package subjects

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// A bundle is several tasks of one subject in one message. Publishing is cheaper in a batch, because a queue
// syncs each message to disk before it acknowledges it. Each task of a bundle succeeds or fails by itself.
const (
	bundleTasks  = 32
	bundleBytes  = 512 << 10
	bundleSchema = 2 // first schema version with bundles
)

// Part is a task in a bundle: the contents of a message of its own.
type Part struct {
	Size   int                 `json:"size,omitempty"` // of Data, in bytes; omitted by older agents
	ID     string              `json:"id"`
	Header map[string][]string `json:"header,omitempty"` // trace headers
	Data   json.RawMessage     `json:"message,omitempty"`
}

// Bundle packs messages of one subject into bundles of at most 32 tasks and 512 KiB, in order. Larger
// messages, messages marked as single, messages of a schema without bundles, and messages of subjects that are
// never bundled stay unchanged.
func Bundle(messages []Message) []Message {
	var out []Message
	open := map[string]int{} // index in out of a subject's last message
	parts := map[int][]Message{}
	size := map[int]int{}
	for _, m := range messages {
		i, is := open[m.Subject]
		fits := is && !m.Single && !neverBundled(m.Subject) && len(parts[i]) < bundleTasks && size[i]+len(m.Data) <= bundleBytes &&
			SchemaOf(m.Data) >= bundleSchema && SchemaOf(parts[i][0].Data) >= bundleSchema
		if !fits {
			i = len(out)
			out = append(out, m)
			if !m.Single {
				open[m.Subject] = i
			}
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

// The text around the parts of a bundle, and around the data of a part.
var (
	bundleHead    = fmt.Appendf(nil, `{"schema":%d,"bundle":[`, bundleSchema)
	bundleEnd     = []byte("]}")
	partDataStart = []byte(`,"message":`)
	partDataEnd   = []byte("}")
)

// bundled returns several messages of one subject as one bundle.
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
		// Equal to the JSON of a Part, but the data is JSON already and is not parsed again.
		task := bytes.TrimSpace(m.Data)
		head, err := json.Marshal(Part{Size: len(task), ID: m.ID, Header: m.Header})
		if err != nil {
			panic(err) // strings only
		}
		data = append(append(data, head[:len(head)-1]...), partDataStart...)
		data = append(append(data, task...), partDataEnd...)
		fmt.Fprintln(ids, m.ID)
	}
	return Message{Subject: messages[0].Subject, ID: "bundle/" + hex.EncodeToString(ids.Sum(nil)[:12]), Data: append(data, bundleEnd...)}
}

// Unbundle returns the parts of a bundle, or nil for any other message. The data of the parts aliases data
// and is not validated as JSON.
func Unbundle(data []byte) ([]Part, error) {
	rest, is := bytes.CutPrefix(data, bundleHead)
	if !is {
		return nil, nil
	}
	if parts, ok := cutParts(rest); ok {
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

// cutParts splits a bundle at the sizes that its parts state, without parsing their data. rest is the bundle
// after its head. It reports false if a size is missing or the form differs from that of bundled.
func cutParts(rest []byte) (parts []Part, ok bool) {
	for {
		head, after, found := bytes.Cut(rest, partDataStart)
		var p Part
		if !found || json.Unmarshal(append(slices.Clip(head), '}'), &p) != nil || p.Size <= 0 || p.Size > len(after) {
			return nil, false
		}
		p.Data, rest = json.RawMessage(after[:p.Size:p.Size]), after[p.Size:]
		parts = append(parts, p)
		if rest, ok = bytes.CutPrefix(rest, partDataEnd); !ok {
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
