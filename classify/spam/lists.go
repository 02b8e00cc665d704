package spam

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/tools/txtar"
)

const maxArchive = 4 << 20 // bytes

// files are the lists that an archive may contain, in reading order.
var files = []struct {
	name string
	read func(b *listParser, line string) error
}{

	{"weights.txt", (*listParser).weight},
	{"phrases.txt", (*listParser).phrase},
	{"adult.txt", (*listParser).phrase},
	{"sponsored.txt", parseSponsored},
	{"domains.txt", (*listParser).domain},
	{"urls.txt", (*listParser).url},
	{"emails.txt", (*listParser).email},
	{"learned.txt", parseLearnedWord},
}

//go:embed lists
var shipped embed.FS

// Shipped returns the lists that ship with the program as a txtar archive, for users to edit. The comment at
// the beginning of each file describes its format.
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
		panic(err) // impossible: the files are embedded
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

// Parse parses lists. Files missing in the archive are taken from the shipped lists. The error joins at most
// 100 problems, each with its file and line, for example `domains.txt:12: "a b" is not a domain`; no filter
// is returned then. An archive has at most 4 MB and 200,000 lines.
func Parse(archive []byte) (*Filter, error) {
	if len(archive) > maxArchive {
		return nil, fmt.Errorf("the lists have %d bytes; the limit is %d", len(archive), maxArchive)
	}
	contents, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	b := newListParser()
	if _, ok := contents["weights.txt"]; ok { // missing weights are the shipped ones
		b.read("weights.txt", shippedFile("weights.txt"), (*listParser).weight)
		clear(b.seen)
	}
	for _, file := range files {
		data, ok := contents[file.name]
		if !ok {
			data = shippedFile(file.name)
		}
		b.read(file.name, data, file.read)
	}
	if b.dropped > 0 {
		b.problems = append(b.problems, fmt.Errorf("and %d more problems", b.dropped))
	}
	if err := errors.Join(b.problems...); err != nil {
		return nil, err
	}
	b.filter.clues = cluesOf(&b.filter.learned)
	b.filter.makeIndexes()
	return b.filter, nil
}

// unpack returns the files of an archive by name.
func unpack(archive []byte) (map[string][]byte, error) {
	files := make(map[string][]byte)
	a := txtar.Parse(archive)
	if text := bytes.TrimSpace(a.Comment); len(text) > 0 {
		return nil, fmt.Errorf("%.40q precedes the first file: begin with a line such as \"-- phrases.txt --\"", text)
	}
	for _, file := range a.Files {
		switch _, twice := files[file.Name]; {
		case !isList(file.Name):
			return nil, fmt.Errorf("%.100q is not a list", file.Name)
		case twice:
			return nil, fmt.Errorf("%s is repeated", file.Name)
		}
		files[file.Name] = file.Data
	}
	return files, nil
}

func isList(name string) bool {
	for _, file := range files {
		if file.name == name {
			return true
		}
	}
	return false
}
