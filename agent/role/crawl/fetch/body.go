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

// compressedBody is a document's body, compressed for its way through the mesh.
type compressedBody struct {
	gzip []byte
	hash string // of the decompressed body, see [hashString]
	size int64  // of the decompressed body, in bytes
}

// MaxBuffered is the size, in bytes, of the largest document that [Request].Buffer receives.
const MaxBuffered = 256 << 10

// bodyWriter hashes a decompressed body and, if requested, copies it to a buffer.
type bodyWriter struct {
	hash   hash.Hash
	buffer *bytes.Buffer // see [Request]; nil once the body exceeds MaxBuffered
}

func newBodyWriter(plain *bytes.Buffer) *bodyWriter {
	if plain != nil {
		plain.Reset() // an earlier response may have filled it
	}
	return &bodyWriter{hash: sha256.New(), buffer: plain}
}

func (i *bodyWriter) Write(p []byte) (int, error) {
	i.hash.Write(p)
	switch {
	case i.buffer == nil:
	case i.buffer.Len()+len(p) > MaxBuffered:
		i.buffer.Reset()
		i.buffer = nil
	default:
		i.buffer.Write(p)
	}
	return len(p), nil
}

func (i *bodyWriter) hashString() string { return hashString(i.hash.Sum(nil)) }

// readBody reads the response's body. Gzip is kept as received, all else is recompressed. It removes one
// layer of compression, whether or not the server declares it (some send undeclared gzip), and never a second
// layer, which could be a decompression bomb.
func (c *Client) readBody(r *http.Response, to *bodyWriter) (compressedBody, error) {
	from := &connReader{Reader: r.Body}
	body := bufioPool.Get().(*bufio.Reader)
	defer putBuffer(body)
	body.Reset(from)
	p, err := c.decode(body, r.Header.Get("Content-Encoding"), r.ContentLength, to)
	var known *Error
	switch {
	case err == nil, errors.As(err, &known):
		return p, err
	case from.err != nil: // takes precedence over the decoder's error
		return p, from.err
	}
	return p, &Error{Class: ClassEncoding, Err: fmt.Errorf("the body can't be decompressed: %w", err)}
}

// Buffers and gzip state are pooled: a gzip reader alone allocates 40 KB.
var (
	bufioPool      = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}
	gzipReaderPool = sync.Pool{New: func() any { return new(gzip.Reader) }}
	chunkPool      = sync.Pool{New: func() any { return new([32 << 10]byte) }}
)

// putBuffer returns a buffer to the pool without its reference to the body.
func putBuffer(b *bufio.Reader) {
	b.Reset(nil)
	bufioPool.Put(b)
}

// maxZstdWindow bounds the window, in bytes, that a zstd body makes the decoder allocate (RFC 9659).
const maxZstdWindow = 8 << 20

func (c *Client) decode(body *bufio.Reader, encoding string, size int64, to *bodyWriter) (compressedBody, error) {
	if isGzip(body) {
		return c.readGzip(body, size, to)
	}
	plain, err := newDecoder(body, encoding)
	if err != nil {
		return compressedBody{}, err
	}
	defer plain.Close()
	return c.recompress(plain, to)
}

// isGzip checks the method byte too, which is always 8, because a brotli stream may begin with gzip's two
// magic bytes.
func isGzip(body *bufio.Reader) bool {
	magic, _ := body.Peek(3)
	return bytes.Equal(magic, []byte{0x1f, 0x8b, 8})
}

// newDecoder returns a reader that removes one layer of compression from a body that is not gzip.
func newDecoder(body io.Reader, encoding string) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "br":
		return io.NopCloser(brotli.NewReader(body)), nil
	case "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	case "", "identity", "gzip", "x-gzip", "utf-8": // some declare gzip and send plain bytes; utf-8 is a common mistake
		return io.NopCloser(body), nil
	}
	return nil, fmt.Errorf("unsupported content encoding %q", encoding)
}

// responseHead returns the first headSize bytes of a response's decompressed body, or fewer if decompression
// fails.
func responseHead(r *http.Response) []byte {
	body := bufio.NewReader(io.LimitReader(r.Body, headSize))
	var plain io.ReadCloser
	var err error
	if isGzip(body) {
		plain, err = gzip.NewReader(body)
	} else {
		plain, err = newDecoder(body, r.Header.Get("Content-Encoding"))
	}
	if err != nil {
		return nil
	}
	defer plain.Close()
	head, _ := io.ReadAll(io.LimitReader(plain, headSize)) // bytes before an error are still useful
	return head
}

// maxPreallocated bounds the buffer, in bytes, that is allocated from a declared Content-Length alone.
const maxPreallocated = 256 << 10

// readGzip reads a gzip body and keeps its bytes unchanged. size is the declared Content-Length, -1 if none.
func (c *Client) readGzip(body io.Reader, size int64, to *bodyWriter) (compressedBody, error) {
	raw := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), c.options.MaxCompressed, maxPreallocated)))
	z := gzipReaderPool.Get().(*gzip.Reader)
	defer gzipReaderPool.Put(z)
	if err := z.Reset(io.TeeReader(body, limitedWriter{raw, c.options.MaxCompressed})); err != nil {
		return compressedBody{}, err
	}
	plain, err := c.copy(to, z)
	if err != nil {
		return compressedBody{}, err
	}
	return compressedBody{gzip: raw.Bytes(), hash: to.hashString(), size: plain}, nil
}

var gzipWriterPool = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

// recompress reads a plain body and compresses it with gzip.
func (c *Client) recompress(body io.Reader, to *bodyWriter) (compressedBody, error) {
	var out bytes.Buffer
	w := gzipWriterPool.Get().(*gzip.Writer)
	defer gzipWriterPool.Put(w)
	w.Reset(limitedWriter{&out, c.options.MaxCompressed})
	size, err := c.copy(io.MultiWriter(to, w), body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return compressedBody{}, err
	}
	return compressedBody{gzip: out.Bytes(), hash: to.hashString(), size: size}, nil
}

// copy copies at most MaxBody bytes and returns an error if the source has more.
func (c *Client) copy(to io.Writer, from io.Reader) (int64, error) {
	chunk := chunkPool.Get().(*[32 << 10]byte)
	defer chunkPool.Put(chunk)
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
	return &Error{Class: ClassTooLarge, Err: fmt.Errorf("the compressed document is larger than %d bytes", limit)}
}

// limitedWriter fails once the buffer would exceed max bytes.
type limitedWriter struct {
	to  *bytes.Buffer
	max int64
}

func (l limitedWriter) Write(p []byte) (int, error) {
	if int64(l.to.Len()+len(p)) > l.max {
		return 0, tooLargePacked(l.max)
	}
	return l.to.Write(p)
}

// connReader records the connection's first error, so that it can be distinguished from a decoder's error and
// from errors that follow from it.
type connReader struct {
	io.Reader
	err error
}

func (w *connReader) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Reader.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

func hashString(hash []byte) string { return hex.EncodeToString(hash[:16]) }

// decompressHead returns the first headSize bytes inside a [Document]'s Body.
func decompressHead(body []byte) []byte {
	z := gzipReaderPool.Get().(*gzip.Reader)
	defer gzipReaderPool.Put(z)
	if z.Reset(bytes.NewReader(body)) != nil {
		return nil
	}
	head, _ := io.ReadAll(io.LimitReader(z, headSize))
	return head
}

// Compress returns a document that was not fetched over HTTP in the form of a [Document]'s Body and BodyHash.
func Compress(document []byte) (body []byte, hash string) {
	var out bytes.Buffer
	w := gzipWriterPool.Get().(*gzip.Writer)
	defer gzipWriterPool.Put(w)
	w.Reset(&out)
	w.Write(document) // a buffer accepts all bytes
	w.Close()
	digest := sha256.Sum256(document)
	return out.Bytes(), hashString(digest[:])
}

// Decompress returns the bytes inside a [Document]'s Body. It returns an error if they exceed limit.
func Decompress(body []byte, limit int64) ([]byte, error) {
	var plain bytes.Buffer
	if err := DecompressTo(&plain, body, limit); err != nil {
		return nil, err
	}
	return plain.Bytes(), nil
}

// DecompressTo is [Decompress] into a buffer, whose previous contents it replaces.
func DecompressTo(plain *bytes.Buffer, body []byte, limit int64) error {
	plain.Reset()
	z := gzipReaderPool.Get().(*gzip.Reader)
	defer gzipReaderPool.Put(z)
	if err := z.Reset(bytes.NewReader(body)); err != nil {
		return fmt.Errorf("decompress the body: %w", err)
	}
	plain.Grow(int(min(gzipSize(body), limit)) + bytes.MinRead)
	if _, err := plain.ReadFrom(io.LimitReader(z, limit+1)); err != nil {
		return fmt.Errorf("decompress the body: %w", err)
	}
	if int64(plain.Len()) > limit {
		return tooLarge(limit)
	}
	return nil
}

// gzipSize returns the decompressed size that the gzip trailer states, bounded by the format's maximum
// compression factor of 1032.
//
// Source: RFC 1952, section 2.3.1; zlib, "Maximum Compression Factor".
func gzipSize(packed []byte) int64 {
	if len(packed) < 4 {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(packed[len(packed)-4:])), 1032*int64(len(packed)))
}

// headSize is how many bytes of a page are searched for signs of a login form or a bot block.
const headSize = 64 << 10
