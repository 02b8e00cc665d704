package fetch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
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

// MaxPlain is the largest document that [Request.Plain] takes, in bytes.
const MaxPlain = 256 << 10

// inside takes what is inside a body, as it comes out.
type inside struct {
	hash  hash.Hash
	plain *bytes.Buffer // see [Request.Plain]
}

func newInside(plain *bytes.Buffer) *inside {
	if plain != nil {
		plain.Reset() // there may have been another answer
	}
	return &inside{hash: sha256.New(), plain: plain}
}

func (i *inside) Write(p []byte) (int, error) {
	i.hash.Write(p)
	switch {
	case i.plain == nil:
	case i.plain.Len()+len(p) > MaxPlain:
		i.plain.Reset()
		i.plain = nil
	default:
		i.plain.Write(p)
	}
	return len(p), nil
}

func (i *inside) sum() string { return sum(i.hash.Sum(nil)) }

// pack reads the response's body: gzip as it came, all else compressed by us.
// One layer of compression is taken off, be it declared or not (some servers
// send gzip and say nothing), and never a second one: that would be a bomb.
func (c *Client) pack(r *http.Response, to *inside) (packed, error) {
	from := &wire{Reader: r.Body}
	body := buffers.Get().(*bufio.Reader)
	defer giveBack(body)
	body.Reset(from)
	p, err := c.decode(body, r.Header.Get("Content-Encoding"), r.ContentLength, to)
	var known *Error
	switch {
	case err == nil, errors.As(err, &known):
		return p, err
	case from.err != nil: // whatever the decoder made of it
		return p, from.err
	}
	return p, &Error{Class: ClassEncoding, Err: fmt.Errorf("the body can't be decompressed: %w", err)}
}

// Bodies are read in what others were read in: a reader of gzip alone takes 40 KB.
var (
	buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}
	readers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	chunks  = sync.Pool{New: func() any { return new([32 << 10]byte) }}
)

// giveBack keeps a buffer for other bodies, and not the body that it read.
func giveBack(b *bufio.Reader) {
	b.Reset(nil)
	buffers.Put(b)
}

// maxWindow is what a zstd body may have us set aside, in bytes: RFC 9659.
const maxWindow = 8 << 20

func (c *Client) decode(body *bufio.Reader, encoding string, size int64, to *inside) (packed, error) {
	if isGzip(body) {
		return c.keep(body, size, to)
	}
	plain, err := decoded(body, encoding)
	if err != nil {
		return packed{}, err
	}
	defer plain.Close()
	return c.compress(plain, to)
}

// isGzip looks at the method too, always 8: a brotli stream may begin with the
// two bytes before it.
func isGzip(body *bufio.Reader) bool {
	magic, _ := body.Peek(3)
	return bytes.Equal(magic, []byte{0x1f, 0x8b, 8})
}

// decoded takes one layer off a body that is not gzip.
func decoded(body io.Reader, encoding string) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "br":
		return io.NopCloser(brotli.NewReader(body)), nil
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	case "", "identity", "gzip", "x-gzip", "utf-8": // some say gzip and send plain bytes; utf-8 is a common slip
		return io.NopCloser(body), nil
	}
	return nil, fmt.Errorf("its encoding is %q, which we did not ask for", encoding)
}

// headOf returns the first bytes of an answer's page, decompressed, as far as
// they can be had.
func headOf(r *http.Response) []byte {
	body := bufio.NewReader(io.LimitReader(r.Body, headSize))
	var plain io.ReadCloser
	var err error
	if isGzip(body) {
		plain, err = gzip.NewReader(body)
	} else {
		plain, err = decoded(body, r.Header.Get("Content-Encoding"))
	}
	if err != nil {
		return nil
	}
	defer plain.Close()
	head, _ := io.ReadAll(io.LimitReader(plain, headSize)) // what came before an error is of use too
	return head
}

// maxTrusted is how many bytes are set aside for a body because a server says that
// it has so many.
const maxTrusted = 256 << 10

// keep reads a gzip body and keeps it as it is. Its size is as the server says; -1
// if it does not.
func (c *Client) keep(body io.Reader, size int64, to *inside) (packed, error) {
	raw := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), c.options.MaxPacked, maxTrusted)))
	z := readers.Get().(*gzip.Reader)
	defer readers.Put(z)
	if err := z.Reset(io.TeeReader(body, limited{raw, c.options.MaxPacked})); err != nil {
		return packed{}, err
	}
	plain, err := c.copy(to, z)
	if err != nil {
		return packed{}, err
	}
	return packed{gzip: raw.Bytes(), hash: to.sum(), size: plain}, nil
}

var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a valid one
	return w
}}

// compress reads a body and compresses it.
func (c *Client) compress(body io.Reader, to *inside) (packed, error) {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(limited{&out, c.options.MaxPacked})
	size, err := c.copy(io.MultiWriter(to, w), body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return packed{}, err
	}
	return packed{gzip: out.Bytes(), hash: to.sum(), size: size}, nil
}

// copy copies at most MaxBody bytes; more are an error.
func (c *Client) copy(to io.Writer, from io.Reader) (int64, error) {
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	size, err := io.CopyBuffer(to, io.LimitReader(from, c.options.MaxBody+1), chunk[:])
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

// unpackHead returns the first bytes inside a [Document]'s Body.
func unpackHead(body []byte) []byte {
	z := readers.Get().(*gzip.Reader)
	defer readers.Put(z)
	if z.Reset(bytes.NewReader(body)) != nil {
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(z, headSize))
	return head
}

// Pack returns a document that came another way as a [Document]'s Body and
// BodyHash have it.
func Pack(document []byte) (body []byte, hash string) {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	w.Write(document) // a buffer takes all
	w.Close()
	digest := sha256.Sum256(document)
	return out.Bytes(), sum(digest[:])
}

// Unpack returns the bytes inside a [Document]'s Body, at most limit of them;
// more are an error.
func Unpack(body []byte, limit int64) ([]byte, error) {
	var plain bytes.Buffer
	if err := UnpackTo(&plain, body, limit); err != nil {
		return nil, err
	}
	return plain.Bytes(), nil
}

// UnpackTo is [Unpack] into a buffer, in place of what is in it.
func UnpackTo(plain *bytes.Buffer, body []byte, limit int64) error {
	plain.Reset()
	z := readers.Get().(*gzip.Reader)
	defer readers.Put(z)
	if err := z.Reset(bytes.NewReader(body)); err != nil {
		return fmt.Errorf("unpack the body: %w", err)
	}
	plain.Grow(int(min(sizeInside(body), limit)) + bytes.MinRead)
	if _, err := plain.ReadFrom(io.LimitReader(z, limit+1)); err != nil {
		return fmt.Errorf("unpack the body: %w", err)
	}
	if int64(plain.Len()) > limit {
		return tooLarge(limit)
	}
	return nil
}

// sizeInside returns how many bytes gzip says are in it, in its last four, but no
// more than there can be.
//
// Source: RFC 1952, section 2.3.1; zlib, "Maximum Compression Factor".
func sizeInside(packed []byte) int64 {
	if len(packed) < 4 {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(packed[len(packed)-4:])), 1032*int64(len(packed)))
}
