package subjects

import (
	"bytes"
	"encoding/base64"
	"slices"
)

// bodyCarrier is a task with a large document in its last field, named "body" in JSON. The body is encoded
// and decoded here in one pass, with the same result as encoding/json, which reads each byte of a string
// three times.
type bodyCarrier interface{ carried() *[]byte }

func (t *Parse) carried() *[]byte { return &t.Body }

// The end of the JSON of a bodyCarrier in its envelope: without a body, and before and after a body.
var (
	nullBodyEnd = []byte("null}}\n")
	bodyStart   = []byte(`,"body":"`)
	bodyEnd     = []byte(`"}}`)
)

// appendBody inserts the body into the JSON of a bodyCarrier that was encoded without it.
func appendBody(data, body []byte) []byte {
	data = bytes.TrimSuffix(data, nullBodyEnd)
	out := make([]byte, 0, len(data)+1+base64.StdEncoding.EncodedLen(len(body))+len(bodyEnd)+1)
	out = append(append(out, data...), '"')
	out = base64.StdEncoding.AppendEncode(out, body)
	return append(append(out, bodyEnd...), '\n')
}

// cutBody removes the body from the JSON of a bodyCarrier and returns it decoded. If the JSON does not have
// the form that appendBody writes, it returns data unchanged and a nil body.
func cutBody(data []byte) (rest, body []byte) {
	head, after, _ := bytes.Cut(data, bodyStart)
	text, ours := bytes.CutSuffix(bytes.TrimSpace(after), bodyEnd)
	if !ours || bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 { // base64 accepts line breaks, JSON does not
		return data, nil
	}
	body = make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(body, text)
	if err != nil {
		return data, nil
	}
	return append(slices.Clip(head), "}}"...), body[:n]
}
