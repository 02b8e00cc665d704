package main

import (
	"archive/zip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The tables contain no word edges, but the frequency of each following letter: of "the the them", one in
// three "the" continues.
func TestReadCounts_DerivesEdges(t *testing.T) {
	folder := t.TempDir()
	writeTable(t, folder, "unigrams", map[string]float64{"t": 0.3, "h": 0.3, "e": 0.3, "m": 0.1})
	writeTable(t, folder, "bigrams", map[string]float64{"th": 1, "he": 1, "em": 1. / 3})
	writeTable(t, folder, "trigrams", map[string]float64{"the": 1, "hem": 1. / 3})
	writeTable(t, folder, "quadrigrams", map[string]float64{"them": 1. / 3})
	got, err := readCounts(folder, isLatin)
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]float64{
		"the": 0.3, " the": 0.3, "the ": 0.2, "them": 0.1, "hem ": 0.1, "em ": 0.1, " th": 0.3, " t": 0.3, " ": 0.3,
		" he": 0, "th ": 0, "t ": 0, " t ": 0,
	} {
		if n := got[sequenceOf([]rune(s))]; math.Abs(n-want) > 1e-9 {
			t.Errorf("got %.3f of %q, want %.3f", n, s, want)
		}
	}
}

func TestPick_KeepsDistinctiveSequences(t *testing.T) {
	a, b, aa, ab := sequenceOf([]rune("a")), sequenceOf([]rune("b")), sequenceOf([]rune("aa")), sequenceOf([]rune("ab"))
	one := counts{a: 0.5, b: 0.5, ab: 0.4, aa: 0.1}
	two := counts{a: 0.5, b: 0.5, ab: 0.1, aa: 0.4}
	table := pick([]counts{one, two}, 2)
	if ab, aa := table[ab], table[aa]; len(table) != 4 || ab[0] >= ab[1] || aa[0] <= aa[1] {
		t.Errorf("got %v, want b after a cheaper in the first language, a in the second", table)
	}
	if table := pick([]counts{one, one}, 0); len(table) != 2 {
		t.Errorf("got %v, want all single letters, within the requested size", table)
	}
}

func writeTable(t *testing.T, folder, name string, table map[string]float64) {
	t.Helper()
	var b []byte
	for s, p := range table {
		set := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
		set = protowire.AppendFixed64(set, math.Float64bits(p))
		set = protowire.AppendTag(set, 2, protowire.BytesType)
		set = protowire.AppendString(set, s)
		b = protowire.AppendTag(b, 4, protowire.BytesType)
		b = protowire.AppendBytes(b, set)
	}
	f, err := os.Create(filepath.Join(folder, name+".pb.bin.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create(name + ".pb.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
