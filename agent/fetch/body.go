package fetch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packed is a body as it travels through the mesh.
type packed struct {
	gzip []byte
	hash string // of the bytes inside
	size int64  // of the bytes inside
}

// pack reads the response's body: gzip as it came, all else compressed by us.
// One layer of compression is taken off, be it declared or not (some servers
// send gzip and say nothing), and never a second one: that would be a bomb.
func (c *Client) pack(r *http.Response) (packed, error) {
	from := &wire{Reader: r.Body}
	p, err := c.decode(bufio.NewReaderSize(from, 32<<10), r.Header.Get("Content-Encoding"))
	var known *Error
	switch {
	case err == nil, errors.As(err, &known):
		return p, err
	case from.err != nil: // whatever the decoder made of it
		return p, from.err
	}
	return p, &Error{Class: ClassEncoding, Err: fmt.Errorf("the body can't be decompressed: %w", err)}
}

// maxWindow is what a zstd body may have us set aside, in bytes: RFC 9659.
const maxWindow = 8 << 20

func (c *Client) decode(body *bufio.Reader, encoding string) (packed, error) {
	// The method, always 8, is looked at too: a brotli stream may begin with
	// the two bytes before it.
	if magic, _ := body.Peek(3); bytes.Equal(magic, []byte{0x1f, 0x8b, 8}) {
		return c.keep(body)
	}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "br":
		return c.compress(brotli.NewReader(body))
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return packed{}, err
		}
		defer z.Close()
		return c.compress(z)
	case "", "identity", "gzip", "x-gzip", "utf-8": // some say gzip and send plain bytes; utf-8 is a common slip
		return c.compress(body)
	}
	return packed{}, fmt.Errorf("its encoding is %q, which we did not ask for", encoding)
}

// keep reads a gzip body and keeps it as it is.
func (c *Client) keep(body io.Reader) (packed, error) {
	var raw bytes.Buffer
	z, err := gzip.NewReader(io.TeeReader(body, limited{&raw, c.options.MaxPacked}))
	if err != nil {
		return packed{}, err
	}
	hash := sha256.New()
	size, err := c.copy(hash, z)
	if err != nil {
		return packed{}, err
	}
	return packed{gzip: raw.Bytes(), hash: sum(hash.Sum(nil)), size: size}, nil
}

var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a valid one
	return w
}}

// compress reads a body and compresses it.
func (c *Client) compress(body io.Reader) (packed, error) {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(limited{&out, c.options.MaxPacked})
	hash := sha256.New()
	size, err := c.copy(io.MultiWriter(hash, w), body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return packed{}, err
	}
	return packed{gzip: out.Bytes(), hash: sum(hash.Sum(nil)), size: size}, nil
}

// copy copies at most MaxBody bytes; more are an error.
func (c *Client) copy(to io.Writer, from io.Reader) (int64, error) {
	size, err := io.Copy(to, io.LimitReader(from, c.options.MaxBody+1))
	if err == nil && size > c.options.MaxBody {
		err = tooLarge(c.options.MaxBody)
	}
	return size, err
}

func tooLarge(limit int64) error {
	return &Error{Class: ClassTooLarge, Err: fmt.Errorf("the document is larger than %d bytes", limit)}
}

func tooLargePacked(limit int64) error {
	return &Error{Class: ClassTooLarge, Err: fmt.Errorf("the document is larger than %d bytes even in gzip", limit)}
}

// limited refuses to hold more than a number of bytes.
type limited struct {
	to  *bytes.Buffer
	max int64
}

func (l limited) Write(p []byte) (int, error) {
	if int64(l.to.Len()+len(p)) > l.max {
		return 0, tooLargePacked(l.max)
	}
	return l.to.Write(p)
}

// A wire remembers the connection's own first error, so that it can be told
// from a decoder's, and from those that it leads to.
type wire struct {
	io.Reader
	err error
}

func (w *wire) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Reader.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

func sum(hash []byte) string { return hex.EncodeToString(hash[:16]) }

// Unpack returns the bytes inside a [Document]'s Body, at most limit of them;
// more are an error.
func Unpack(body []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("unpack the body: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("unpack the body: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	return data, nil
}
