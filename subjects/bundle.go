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
	ID     string              `json:"id"`
	Header map[string][]string `json:"header,omitempty"` // the trace it belongs to
	Data   json.RawMessage     `json:"message"`
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

// bundleHead begins each bundle.
var bundleHead = fmt.Appendf(nil, `{"schema":%d,"bundle":[`, bundleSchema)

// bundled returns messages of one subject as one.
func bundled(messages []Message) Message {
	data, ids := slices.Clone(bundleHead), sha256.New()
	for i, m := range messages {
		if i > 0 {
			data = append(data, ',')
		}
		// As one would write a Part, but that what is JSON is not read again.
		part, err := json.Marshal(struct {
			ID     string              `json:"id"`
			Header map[string][]string `json:"header,omitempty"`
		}{m.ID, m.Header})
		if err != nil {
			panic(err) // strings only
		}
		data = append(append(append(data, part[:len(part)-1]...), `,"message":`...), bytes.TrimSpace(m.Data)...)
		data = append(data, '}')
		fmt.Fprintln(ids, m.ID)
	}
	return Message{Subject: messages[0].Subject, ID: "bundle/" + hex.EncodeToString(ids.Sum(nil)[:12]), Data: append(data, "]}"...)}
}

// Unbundle returns the parts of a message, or nil for one that is no bundle.
func Unbundle(data []byte) ([]Part, error) {
	if !bytes.HasPrefix(data, bundleHead) {
		return nil, nil
	}
	var b struct {
		Parts []Part `json:"bundle"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("decode a bundle: %w", err)
	}
	return b.Parts, nil
}
