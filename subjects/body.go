package subjects

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// A carrier is a task that is little beside the document it carries: bytes, in its
// last field, which JSON has as "body". They are written and read here, once, as
// encoding/json would: it reads each byte of a text three times, and one by one.
type carrier interface{ carried() *[]byte }

func (t *Parse) carried() *[]byte { return &t.Body }

// How a carrier's JSON ends, in its envelope: without a body, and around one.
var (
	noBody     = []byte("null}}\n")
	beforeBody = []byte(`,"body":"`)
	afterBody  = []byte(`"}}`)
)

// withBody returns a carrier's JSON, which was written without its body, with it.
func withBody(data, body []byte) []byte {
	data = bytes.TrimSuffix(data, noBody)
	out := make([]byte, 0, len(data)+1+base64.StdEncoding.EncodedLen(len(body))+len(afterBody)+1)
	out = append(append(out, data...), '"')
	out = base64.StdEncoding.AppendEncode(out, body)
	return append(append(out, afterBody...), '\n')
}

// withoutBody takes the body out of a carrier's JSON. It returns data itself, and
// no body, where that is not as we write it.
func withoutBody(data []byte) (rest, body []byte) {
	head, after, _ := bytes.Cut(data, beforeBody)
	text, ours := bytes.CutSuffix(bytes.TrimSpace(after), afterBody)
	if !ours || bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 { // base64 may have these, JSON may not
		return data, nil
	}
	body = make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(body, text)
	if err != nil {
		return data, nil
	}
	return append(slices.Clip(head), "}}"...), body[:n]
}
