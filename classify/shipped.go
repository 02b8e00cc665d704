package classify

import (
	"cmp"
	"embed"
	"path"
	"slices"
	"sync"

	"golang.org/x/tools/txtar"

	"feedmesh/classify/rule"
)

//go:embed rules/*.rules
var rulesFolder embed.FS

// shippedFiles returns the rule files that ship with the program, sorted by name.
var shippedFiles = sync.OnceValue(func() []rule.File {
	entries, err := rulesFolder.ReadDir("rules")
	if err != nil {
		panic(err) // impossible: the files are embedded
	}
	files := make([]rule.File, len(entries))
	for i, e := range entries {
		text, err := rulesFolder.ReadFile(path.Join("rules", e.Name()))
		if err != nil {
			panic(err)
		}
		files[i] = rule.File{Name: e.Name(), Text: string(text)}
	}
	return files
})

// isShippedFile reports whether a file of the name ships with the program.
func isShippedFile(name string) bool {
	_, is := slices.BinarySearchFunc(shippedFiles(), name, func(f rule.File, name string) int { return cmp.Compare(f.Name, name) })
	return is
}

// Shipped returns the rules that ship with the program. The caller must not change them.
func Shipped() *rule.Set { return shippedSet() }

var shippedSet = sync.OnceValue(func() *rule.Set {
	set, err := rule.ParseFiles(shippedFiles())
	if err != nil {
		panic(err) // impossible: a test parses them
	}
	return set
})

// ShippedRules returns the set of [Shipped], compiled.
func ShippedRules() *Rules { return shippedRules() }

var shippedRules = sync.OnceValue(func() *Rules {
	r, err := Compile(Shipped())
	if err != nil {
		panic(err)
	}
	return r
})

// ShippedArchive returns the shipped rule files as a txtar archive, for users to copy from and edit.
func ShippedArchive() []byte {
	var a txtar.Archive
	for _, f := range shippedFiles() {
		a.Files = append(a.Files, txtar.File{Name: f.Name, Data: []byte(f.Text)})
	}
	return txtar.Format(&a)
}

// Overlay returns the shipped rules with the changes of an archive. A file of the archive replaces the
// shipped file of its name or is added; an empty file disables the shipped one. The error is of type
// [rule.Diagnostics] and lists every problem, with positions in the shipped files where those are unchanged.
func Overlay(archive []byte) (*rule.Set, error) {
	own := txtar.Parse(archive)
	if len(own.Files) == 0 { // a single file without an archive header
		own.Files, own.Comment = []txtar.File{{Name: rule.UnnamedFile, Data: own.Comment}}, nil
	}
	all := txtar.Archive{Comment: own.Comment, Files: own.Files}
	for _, f := range shippedFiles() {
		if !slices.ContainsFunc(own.Files, func(o txtar.File) bool { return o.Name == f.Name }) {
			all.Files = append(all.Files, txtar.File{Name: f.Name, Data: []byte(f.Text)})
		}
	}
	slices.SortStableFunc(all.Files, func(a, b txtar.File) int { return cmp.Compare(a.Name, b.Name) })
	return rule.Parse(txtar.Format(&all))
}
