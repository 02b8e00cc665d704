package model

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// version is the first line of an encoded model and identifies its format.
const version = "feedmesh model 1\n"

const (
	maxFile   = 3 << 20  // bytes of an encoded model
	maxPlain  = 32 << 20 // decompressed
	maxHeader = 1 << 20
)

// ErrInvalidModel reports data that is not a model, or damaged.
var ErrInvalidModel = errors.New("invalid model")

// A header contains everything except names and weights.
type header struct {
	Categories []string `json:"categories"`
	Bias       []int32  `json:"bias"`
	Features   int      `json:"features"`
	Figures    Metrics  `json:"figures"`
}

// Encode returns m as at most 3 MB of gzip data: a line with the version, a line of JSON with categories and
// metrics, the sorted feature names, and a byte for each feature and category. A name is encoded as the
// length of the prefix shared with the name before it (a varint), the length of the rest, and the rest. Equal
// models give equal bytes.
func (m *Model) Encode() ([]byte, error) {
	head, err := json.Marshal(header{m.categories, m.bias, m.names.Len(), m.figures})
	if err != nil {
		return nil, fmt.Errorf("encode model: %w", err)
	}
	plain := append([]byte(version), head...)
	plain = append(plain, '\n')
	var last []byte
	for f := range m.names.Len() { // fit and Decode sort them
		name := m.names.Word(int32(f))
		shared := 0
		for shared < min(len(name), len(last)) && name[shared] == last[shared] {
			shared++
		}
		plain = binary.AppendUvarint(plain, uint64(shared))
		plain = binary.AppendUvarint(plain, uint64(len(name)-shared))
		plain = append(plain, name[shared:]...)
		last = name
	}
	for k := range m.categories { // column by column, which compresses better
		for f := range m.names.Len() {
			plain = append(plain, byte(m.row(int32(f))[k]))
		}
	}
	packed := pack(plain)
	if len(packed) > maxFile {
		return nil, fmt.Errorf("encode model: %d bytes exceed the limit", len(packed))
	}
	return packed, nil
}

func pack(plain []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // impossible: the level is valid
	}
	z.Write(plain) // cannot fail in memory
	z.Close()
	return b.Bytes()
}

// Decode decodes the output of [Model.Encode]. It returns [ErrInvalidModel] for other data, and decompresses
// at most 32 MB.
func Decode(packed []byte) (*Model, error) {
	m, err := decode(packed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidModel, err)
	}
	return m, nil
}

func decode(packed []byte) (*Model, error) {
	if len(packed) > maxFile {
		return nil, fmt.Errorf("%d bytes exceed the limit", len(packed))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxPlain+1))
	if err != nil {
		return nil, err
	}
	rest, is := bytes.CutPrefix(plain, []byte(version))
	line, rest, ended := bytes.Cut(rest, []byte("\n"))
	if !is || !ended || len(plain) > maxPlain || len(line) > maxHeader {
		return nil, errors.New("the header is not of a supported version")
	}
	var head header
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, err
	}
	if err := head.check(); err != nil {
		return nil, err
	}
	m := &Model{categories: head.Categories, bias: head.Bias, figures: head.Figures}
	size, err := m.readNames(bufio.NewReader(bytes.NewReader(rest)), head.Features)
	if err != nil {
		return nil, err
	}
	rest = rest[size:]
	n := len(m.categories)
	if len(rest) != n*head.Features {
		return nil, fmt.Errorf("got %d weights, want %d", len(rest), n*head.Features)
	}
	m.weights = make([]int8, len(rest))
	for i, w := range rest {
		k, f := i/head.Features, i%head.Features
		m.weights[f*n+k] = int8(w)
	}
	return m, nil
}

// check validates a header.
func (h header) check() error {
	n := len(h.Categories)
	switch {
	case n < 2 || n > maxCategories:
		return fmt.Errorf("unsupported number of categories: %d", n)
	case len(h.Bias) != n:
		return fmt.Errorf("got %d biases for %d categories", len(h.Bias), n)
	case h.Features < 0 || h.Features > maxWeights/n:
		return fmt.Errorf("unsupported number of features: %d", h.Features)
	case slices.ContainsFunc(h.Bias, func(b int32) bool { return b < -1<<16 || b > 1<<16 }):
		return errors.New("a bias is out of range")
	}
	for i, c := range h.Categories {
		if c == "" || len(c) > maxName || i > 0 && c <= h.Categories[i-1] {
			return fmt.Errorf("category %q is empty, too long or out of order", c)
		}
	}
	return nil
}

// readNames reads the names of n features, and returns their encoded size.
func (m *Model) readNames(r *bufio.Reader, n int) (size int, err error) {
	var name, last []byte
	for i := range n {
		shared, err1 := binary.ReadUvarint(r)
		more, err2 := binary.ReadUvarint(r)
		if err := errors.Join(err1, err2); err != nil {
			return 0, fmt.Errorf("feature %d: %w", i, err)
		}
		if shared > uint64(len(last)) || more > maxName || shared+more > maxName {
			return 0, fmt.Errorf("feature %d is too long", i)
		}
		name = append(append(name[:0], last[:shared]...), make([]byte, more)...)
		if _, err := io.ReadFull(r, name[shared:]); err != nil {
			return 0, fmt.Errorf("feature %d: %w", i, err)
		}
		if bytes.Compare(name, last) <= 0 || !utf8.Valid(name) {
			return 0, fmt.Errorf("feature %d is out of order or not valid UTF-8", i)
		}
		m.names.Add(string(name))
		size += uvarintSize(shared) + uvarintSize(more) + int(more)
		name, last = last, name
	}
	m.names.Fit()
	return size, nil
}

func uvarintSize(x uint64) int { return len(binary.AppendUvarint(nil, x)) }
