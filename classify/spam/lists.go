package spam

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/tools/txtar"
)

const (
	maxArchive = 4 << 20 // bytes
	maxLines   = 200_000 // of all lists
	maxFaults  = 100     // that are told of
	maxLine    = 1000    // bytes
	maxWeight  = 20
)

// A Filter judges documents by lists. It does not change and may be used
// concurrently.
type Filter struct {
	weights [weights]float64
	phrases []entry // of phrases.txt, adult.txt and sponsored.txt
	domains map[string]entry
	urls    patterns
	emails  patterns
	lessons lessons
	clues   *clues                   // of the lessons
	indexes map[string]func() *index // by language; each is made when it is first asked for
}

// Threshold is the score from which a document is spam, where nobody says
// otherwise.
func (f *Filter) Threshold() float64 { return f.weights[threshold] }

// A place is a line of a list. The zero place is none.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.file == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", p.file, p.line)
}

// An entry is a line of a list that has groups.
type entry struct {
	list, group string // the list is its file: "phrases.txt"
	weight      float64
	text        string
	title       bool // of sponsored.txt: a title begins with it
	literal     bool // it must stand in a text as it is written
	forMessages bool
	where       place
}

// files are the lists an archive may have, in the order they are read in.
var files = []struct {
	name string
	read func(b *builder, line string) error
}{

	{"weights.txt", (*builder).weight},
	{"phrases.txt", (*builder).phrase},
	{"adult.txt", (*builder).phrase},
	{"sponsored.txt", (*builder).sponsored},
	{"domains.txt", (*builder).domain},
	{"urls.txt", (*builder).url},
	{"emails.txt", (*builder).email},
	{"learned.txt", (*builder).lesson},
}

//go:embed lists
var shipped embed.FS

// Shipped returns the lists that ship with the program, as a txtar archive for
// people to edit. Each file's head says what is in it.
func Shipped() []byte {
	var a txtar.Archive
	for _, file := range files {
		a.Files = append(a.Files, txtar.File{Name: file.name, Data: shippedFile(file.name)})
	}
	return txtar.Format(&a)
}

func shippedFile(name string) []byte {
	data, err := shipped.ReadFile("lists/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return data
}

// Default returns the filter of the shipped lists.
func Default() *Filter { return defaultFilter() }

var defaultFilter = sync.OnceValue(func() *Filter {
	f, err := Parse(nil)
	if err != nil {
		panic(err)
	}
	return f
})

// Parse reads lists. Files missing in archive are the shipped ones. The error
// tells of every fault with its file and line, as in `domains.txt:12: "a b" is no
// domain`, at most 100 of them; then there is no filter. It reads 4 MB and 200,000
// lines at most.
func Parse(archive []byte) (*Filter, error) {
	if len(archive) > maxArchive {
		return nil, fmt.Errorf("the lists have %d bytes; %d are read at most", len(archive), maxArchive)
	}
	given, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	b := newBuilder()
	if _, ok := given["weights.txt"]; ok { // what it leaves out is as shipped
		b.read("weights.txt", shippedFile("weights.txt"), (*builder).weight)
		clear(b.seen)
	}
	for _, file := range files {
		data, ok := given[file.name]
		if !ok {
			data = shippedFile(file.name)
		}
		b.read(file.name, data, file.read)
	}
	if b.dropped > 0 {
		b.faults = append(b.faults, fmt.Errorf("and %d more faults", b.dropped))
	}
	if err := errors.Join(b.faults...); err != nil {
		return nil, err
	}
	b.filter.clues = cluesOf(&b.filter.lessons)
	b.filter.makeIndexes()
	return b.filter, nil
}

// unpack returns the files of an archive by name.
func unpack(archive []byte) (map[string][]byte, error) {
	given := make(map[string][]byte)
	a := txtar.Parse(archive)
	if text := bytes.TrimSpace(a.Comment); len(text) > 0 {
		return nil, fmt.Errorf("%.40q stands before the first file: it must begin with a line as \"-- phrases.txt --\"", text)
	}
	for _, file := range a.Files {
		switch _, twice := given[file.Name]; {
		case !isList(file.Name):
			return nil, fmt.Errorf("%.100q is no list", file.Name)
		case twice:
			return nil, fmt.Errorf("%s is there twice", file.Name)
		}
		given[file.Name] = file.Data
	}
	return given, nil
}

func isList(name string) bool {
	for _, file := range files {
		if file.name == name {
			return true
		}
	}
	return false
}
