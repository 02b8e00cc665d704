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

// shippedFiles are the texts of the rules that ship, by name.
var shippedFiles = sync.OnceValue(func() []rule.File {
	entries, err := rulesFolder.ReadDir("rules")
	if err != nil {
		panic(err) // it is in the program
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

// Shipped returns the rules that ship with the program. The caller must not
// change them.
func Shipped() *rule.Set { return shippedSet() }

var shippedSet = sync.OnceValue(func() *rule.Set {
	set, err := rule.ParseFiles(shippedFiles())
	if err != nil {
		panic(err) // a test parses them
	}
	return set
})

// ShippedRules returns those of [Shipped], compiled.
func ShippedRules() *Rules { return shippedRules() }

var shippedRules = sync.OnceValue(func() *Rules {
	r, err := Compile(Shipped())
	if err != nil {
		panic(err)
	}
	return r
})

// ShippedArchive returns the texts of the rules that ship as a txtar archive, for
// a person to take parts of and change.
func ShippedArchive() []byte {
	var a txtar.Archive
	for _, f := range shippedFiles() {
		a.Files = append(a.Files, txtar.File{Name: f.Name, Data: []byte(f.Text)})
	}
	return txtar.Format(&a)
}

// Overlay returns the rules that ship as an archive changes them: a file of the
// archive stands in place of the shipped one of its name, or beside the others; an
// empty one switches the shipped one off. The error, of type [rule.Faults], names
// every fault; places in files that nobody changed are those of the shipped ones.
func Overlay(archive []byte) (*rule.Set, error) {
	own := txtar.Parse(archive)
	if len(own.Files) == 0 { // the text of one file
		own.Files, own.Comment = []txtar.File{{Name: rule.Unnamed, Data: own.Comment}}, nil
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
