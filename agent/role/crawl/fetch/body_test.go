package fetch

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encodings are the requested encodings, and none.
var encodings = map[string]func(*testing.T, []byte) []byte{
	"":         func(_ *testing.T, b []byte) []byte { return b },
	"identity": func(_ *testing.T, b []byte) []byte { return b },
	"gzip":     zipped,
	"x-gzip":   zipped,
	"GZIP":     zipped,
	"br": func(t *testing.T, b []byte) []byte {
		return written(t, b, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	},
	"zstd": func(t *testing.T, b []byte) []byte {
		return written(t, b, func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		})
	},
}

func zipped(t *testing.T, b []byte) []byte {
	return written(t, b, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func written(t *testing.T, b []byte, through func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var out bytes.Buffer
	w := through(&out)
	_, err := w.Write(b)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// noise returns incompressible bytes, the same each time.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// sends returns the address of a server that sends a body with the given Content-Encoding.
func sends(t *testing.T, encoding string, body []byte) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		w.Header().Set("Content-Type", "application/rss+xml")
		w.Write(body)
	})
}

func TestBody_OneLayerOfCompressionIsRemoved(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"", "<rss/>", strings.Repeat("<item>лента</item>", 10_000)} {
		for name, encode := range encodings {
			d := get(t, client(t), Request{URL: sends(t, name, encode(t, []byte(document)))})
			if got := text(t, d); got != document || d.Size != int64(len(document)) || d.ContentType != "application/rss+xml" {
				t.Errorf("%q: got %d bytes %.20q (Size %d, %s), want %d %.20q", name, len(got), got, d.Size, d.ContentType, len(document), document)
			}
		}
	}
}

func TestBody_WronglyDeclaredEncodingIsAccepted(t *testing.T) {
	t.Parallel()
	plain := []byte("<rss>some feed</rss>")
	once := zipped(t, plain)
	for _, c := range []struct {
		name, encoding string
		body, want     []byte
	}{
		{"undeclared gzip", "", once, plain},
		{"gzip declared as identity", "identity", once, plain},
		{"gzip declared as br", "br", once, plain},
		{"plain bytes declared as gzip", "gzip", plain, plain},
		{"plain bytes declared as a charset", "utf-8", plain, plain},
		{"doubled gzip loses one layer", "gzip", zipped(t, once), once},
		{"doubled gzip, both declared", "gzip, gzip", zipped(t, once), once},
		{"a br in a gzip loses one layer", "br, gzip", zipped(t, encodings["br"](t, plain)), encodings["br"](t, plain)},
		{"one byte is no gzip", "gzip", []byte{0x1f}, []byte{0x1f}},
	} {
		d := get(t, client(t), Request{URL: sends(t, c.encoding, c.body)})
		if got := text(t, d); got != string(c.want) {
			t.Errorf("%s: got %.60q, want %.60q", c.name, got, c.want)
		}
	}
}

// A brotli stream may begin with the first two bytes of gzip.
func TestBody_BrotliThatStartsLikeGzip(t *testing.T) {
	t.Parallel()
	var stream, want []byte
	for n := range 1 << 12 {
		plain := bytes.Repeat([]byte("ab"), 0x4c00+n)
		b := written(t, plain, func(w io.Writer) io.WriteCloser {
			return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 5, LGWin: 24})
		})
		if b[0] == 0x1f && b[1] == 0x8b {
			stream, want = b, plain
			break
		}
	}
	if stream == nil {
		t.Fatal("no such stream found; another length makes one")
	}
	d := get(t, client(t), Request{URL: sends(t, "br", stream)})
	if got := text(t, d); got != string(want) {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestBody_BrokenEncodingIsReported(t *testing.T) {
	t.Parallel()
	long := noise(1000)
	half := func(name string) []byte {
		b := encodings[name](t, long)
		return b[:len(b)/2]
	}
	damaged := zipped(t, long)
	damaged[len(damaged)-5]++ // in its checksum
	for _, c := range []struct {
		name, encoding string
		body           []byte
	}{
		{"half a gzip", "gzip", half("gzip")},
		{"half a br", "br", half("br")},
		{"half a zstd", "zstd", half("zstd")},
		{"a damaged gzip", "gzip", damaged},
		{"a gzip with a tail", "gzip", append(zipped(t, long), "tail"...)},
		{"plain bytes declared as br", "br", []byte("<rss>some feed</rss>")},
		{"plain bytes declared as zstd", "zstd", []byte("<rss>some feed</rss>")},
		{"an encoding not requested", "deflate", []byte("x")},
		{"a long name", strings.Repeat("x", 10_000), []byte("x")},
	} {
		e := fails(t, client(t), Request{URL: sends(t, c.encoding, c.body)}, ClassEncoding)
		if !strings.HasPrefix(e.Error(), "the body can't be decompressed: ") || len(e.Error()) > 400 {
			t.Errorf("%s: got %q, want a text that begins: the body can't be decompressed", c.name, e)
		}
	}
}

func TestBody_SizeIsLimited(t *testing.T) {
	t.Parallel()
	limit := func(o *Options) { o.MaxBody = 1000 }
	for name, encode := range encodings {
		just := bytes.Repeat([]byte("x"), 1000)
		if d := get(t, client(t, limit), Request{URL: sends(t, name, encode(t, just))}); d.Size != 1000 {
			t.Errorf("%q: got %d bytes, want 1000", name, d.Size)
		}
		e := fails(t, client(t, limit), Request{URL: sends(t, name, encode(t, append(just, 'x')))}, ClassTooLarge)
		if got, want := e.Error(), "the document is larger than 1000 bytes"; got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestBody_CompressedSizeIsLimited(t *testing.T) {
	t.Parallel()
	limit := func(o *Options) { o.MaxCompressed = 2000 }
	for name, encode := range encodings {
		d := get(t, client(t, limit), Request{URL: sends(t, name, encode(t, noise(1500)))})
		if len(d.Body) > 2000 {
			t.Errorf("%q: got %d bytes, want at most 2000", name, len(d.Body))
		}
		e := fails(t, client(t, limit), Request{URL: sends(t, name, encode(t, noise(3000)))}, ClassTooLarge)
		if !strings.Contains(e.Error(), "larger than 2000 bytes") {
			t.Errorf("%q: got %q, want it to contain the limit", name, e)
		}
	}
}

// bombs contain a GiB of zeros each: 64 times the same part.
func bombs(t *testing.T) map[string][]byte {
	const times = 64
	part := make([]byte, 16<<20)
	var br bytes.Buffer
	var ends []int
	w := brotli.NewWriterLevel(&br, brotli.BestSpeed)
	for range 2 {
		w.Write(part)
		w.Flush()
		ends = append(ends, br.Len())
	}
	w.Close()
	first, again, end := br.Bytes()[:ends[0]], br.Bytes()[ends[0]:ends[1]], br.Bytes()[ends[1]:]
	return map[string][]byte{
		"gzip": bytes.Repeat(zipped(t, part), times),
		"zstd": bytes.Repeat(encodings["zstd"](t, part), times),
		"br":   slices.Concat(first, bytes.Repeat(again, times-1), end),
	}
}

func TestBody_DecompressionBombsAreTooLarge(t *testing.T) {
	const maxAlloc = 24 << 20
	limit := func(o *Options) { o.MaxBody, o.MaxCompressed = 10<<20, 6<<20 }
	for name, body := range bombs(t) {
		url, c := sends(t, name, body), client(t, limit)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := fails(t, c, Request{URL: url}, ClassTooLarge)
		runtime.ReadMemStats(&after)
		if got, want := e.Error(), "the document is larger than 10485760 bytes"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > maxAlloc {
			t.Errorf("%s of %d bytes: it allocated %d bytes, want at most %d", name, len(body), got, maxAlloc)
		}
	}
}

// Reading stops as soon as the limit is exceeded.
func TestBody_EndlessBodyIsTooLarge(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"", "gzip"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", encoding)
			part := make([]byte, 1<<18)
			if encoding == "gzip" {
				part = zipped(t, part)
			}
			for r.Context().Err() == nil {
				w.Write(part)
			}
		})
		e := fails(t, client(t), Request{URL: url}, ClassTooLarge)
		if got, want := e.Error(), "the document is larger than 1048576 bytes"; got != want {
			t.Errorf("%q: got %q, want %q", encoding, got, want)
		}
	}
}

// RFC 9659: over HTTP a zstd window has at most 8 MB. A frame of a few bytes with a larger window would
// allocate that much.
func TestBody_ZstdWindowIsBounded(t *testing.T) {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, (26 - 10) << 3, 0x0d, 0x00, 0x00, 'x'} // a window of 64 MB, one raw block
	frame[6] = 1 | 1<<3                                                                  // the last block, raw, of one byte
	c := client(t)
	url := sends(t, "zstd", frame)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fails(t, c, Request{URL: url}, ClassEncoding, ClassTooLarge)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("it allocated %d bytes for a frame of %d", got, len(frame))
	}
}

func TestDecompress_ReturnsAtMostTheLimit(t *testing.T) {
	t.Parallel()
	packed := zipped(t, []byte("12345"))
	if got, err := Decompress(packed, 5); err != nil || string(got) != "12345" {
		t.Errorf("Decompress(5) = %q, %v; want 12345", got, err)
	}
	if got, err := Decompress(packed, 4); err == nil {
		t.Errorf("Decompress(4) = %q; want an error", got)
	}
	for _, bad := range [][]byte{nil, []byte("no gzip"), packed[:len(packed)-1]} {
		if got, err := Decompress(bad, 100); err == nil {
			t.Errorf("Decompress(%q) = %q; want an error", bad, got)
		}
	}
}

// The gzip trailer states the size of the last member only, and may be false.
func TestDecompress_DoesNotTrustTheStatedSize(t *testing.T) {
	two := append(zipped(t, bytes.Repeat([]byte("a"), 5000)), zipped(t, []byte("b"))...)
	if got, err := Decompress(two, 1<<20); err != nil || len(got) != 5001 {
		t.Errorf("got %d bytes of two parts, %v; want 5001", len(got), err)
	}
	lie := zipped(t, []byte("12345"))
	copy(lie[len(lie)-4:], "\xff\xff\xff\xff")
	var plain bytes.Buffer
	if err := DecompressTo(&plain, lie, 1<<30); err == nil || plain.Cap() > 1<<20 {
		t.Errorf("got %v and %d bytes allocated for a body with a false size", err, plain.Cap())
	}
}

func TestCompress_EqualsAFetchedDocument(t *testing.T) {
	for _, document := range []string{"", "a feed", strings.Repeat("a feed ", 100_000)} {
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, document) })
		fetched := get(t, client(t), Request{URL: address})
		body, hash := Compress([]byte(document))
		if !bytes.Equal(body, fetched.Body) || hash != fetched.BodyHash {
			t.Errorf("%d bytes: got %d compressed and hash %s, want %d and %s", len(document), len(body), hash, len(fetched.Body), fetched.BodyHash)
		}
	}
}

// A reader of a new document does not have to decompress it again.
func TestRequest_BufferReceivesNewDocumentsOnly(t *testing.T) {
	t.Parallel()
	document := bytes.Repeat([]byte("<item>some words</item>\n"), 4<<10)
	_, hash := Compress(document)
	large := bytes.Repeat(document, MaxBuffered/len(document)+1)
	for encoding, encode := range encodings {
		c := client(t)
		url, cut := sends(t, encoding, encode(t, document)), sends(t, "gzip", zipped(t, document)[:200])
		for _, r := range []struct {
			name    string
			request Request
			want    []byte
		}{
			{"a new document", Request{URL: url}, document},
			{"the one we have", Request{URL: url, BodyHash: hash}, nil},
			{"one that is too large", Request{URL: sends(t, encoding, encode(t, large))}, nil},
			{"one that is cut off", Request{URL: cut}, nil},
		} {
			r.request.Buffer = bytes.NewBufferString("what was in it before")
			d, err := c.Fetch(t.Context(), r.request, time.Now())
			if got := r.request.Buffer.Bytes(); !bytes.Equal(got, r.want) {
				t.Errorf("%q, %s (%v): got %d bytes, want %d", encoding, r.name, err, len(got), len(r.want))
			}
			if inside, err := Decompress(d.Body, 10<<20); r.want != nil && (err != nil || !bytes.Equal(inside, r.want)) {
				t.Errorf("%q, %s: the body is another: %v", encoding, r.name, err)
			}
		}
	}
}
