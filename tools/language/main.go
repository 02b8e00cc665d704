// Language creates the model of package language. Its arguments are the language-models folder of
// github.com/pemistahl/lingua-go v1.4.0 (Apache 2.0), which contains for each language the probability of
// each letter after up to three others, and the output file:
//
//	go run ./tools/language FOLDER classify/language/model.bin.gz
//
// The output is much smaller: only those sequences of up to four letters that distinguish languages, with one
// byte for each language.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A group is the languages of one script that the model distinguishes.
type group struct {
	script    string
	languages []string
	sequences int // number to keep
	letter    func(r rune) bool
}

var groups = []group{
	{
		script: "Latin", sequences: 30_000, letter: isLatin,
		languages: strings.Fields("af az ca cs cy da de en eo es et eu fi fr ga hr hu id is it la lt lv nl no pl pt ro sk sl so sq sv sw tl tr vi"),
	},
	{
		script: "Cyrillic", sequences: 20_000, letter: isCyrillic,
		languages: strings.Fields("be bg kk mk mn ru sr uk"),
	},
	{script: "Arabic", sequences: 5_000, letter: isArabic, languages: strings.Fields("ar fa ur")},
	{script: "Devanagari", sequences: 3_000, letter: isDevanagari, languages: strings.Fields("hi mr")},
}

func isLatin(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 0xDF && r <= 0x24F && r != '÷' || r >= 0x1E00 && r <= 0x1EFF
}
func isCyrillic(r rune) bool   { return r >= 0x430 && r <= 0x52F }
func isArabic(r rune) bool     { return r >= 0x620 && r <= 0x6FF }
func isDevanagari(r rune) bool { return r >= 0x900 && r <= 0x97F }

// sources maps languages to their folder if its name differs.
var sources = map[string]string{"no": "nb"}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: language FOLDER FILE")
		os.Exit(2)
	}
	if err := train(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "language:", err)
		os.Exit(1)
	}
}

func train(folder, file string) error {
	var out bytes.Buffer
	for _, g := range groups {
		var counts []counts
		for _, l := range g.languages {
			if s, ok := sources[l]; ok {
				l = s
			}
			c, err := readCounts(filepath.Join(folder, l), g.letter)
			if err != nil {
				return fmt.Errorf("read %s: %w", l, err)
			}
			counts = append(counts, c)
		}
		write(&out, g, pick(counts, g.sequences))
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(out.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o644)
}

// write appends a group: its script and languages, each with a length byte, the number of sequences, the
// ascending sequences as differences, and their costs, all costs of one language together.
func write(out *bytes.Buffer, g group, table map[sequence][]byte) {
	for _, s := range []string{g.script, strings.Join(g.languages, " ")} {
		out.WriteByte(byte(len(s)))
		out.WriteString(s)
	}
	keys := make([]sequence, 0, len(table))
	for s := range table {
		keys = append(keys, s)
	}
	slices.Sort(keys)
	b := binary.AppendUvarint(nil, uint64(len(keys)))
	last := sequence(0)
	for _, s := range keys {
		b = binary.AppendUvarint(b, uint64(s-last))
		last = s
	}
	out.Write(b)
	for l := range g.languages {
		for _, s := range keys {
			out.WriteByte(table[s][l])
		}
	}
}
