package storagetest

import (
	"bytes"
	"fmt"
	"time"

	"feedmesh/storage"
)

// anImport returns an import with a value in every field.
func anImport(id string, started time.Time) storage.Import {
	return storage.Import{
		ID: id, Name: "my <feeds>.opml", Started: started, Finished: started.Add(time.Minute),
		Total: 6, Done: 5, Added: 2, Existing: 1, Invalid: 2, Lines: []byte("{\"line\": 1}\n\x00\xff\n"),
	}
}

func putImport(c storeTest, imp storage.Import) {
	c.Helper()
	if err := storage.Imports(c.Store).Put(c.Context(), imp); err != nil {
		c.Fatalf("put import: %v", err)
	}
}

func storedImport(c storeTest) {
	full := anImport("full", day)
	bare := storage.Import{ID: "bare", Started: day}
	large := anImport("large", day)
	large.Lines = bytes.Repeat([]byte("https://example.org/ was added\n"), 1<<20/31)
	for _, want := range []storage.Import{full, bare, large} {
		putImport(c, want)
		got, err := storage.Imports(c.Store).Read(c.Context(), want.ID)
		if err != nil {
			c.Fatal(err)
		}
		c.wantEqual("the import", got, want)
	}
}

func replacedImport(c storeTest) {
	first := anImport("one", day)
	putImport(c, first)
	next := storage.Import{ID: "one", Name: "other", Started: day.Add(time.Second), Total: 9, Done: 8, Lines: []byte("all")}
	putImport(c, next)
	got, err := storage.Imports(c.Store).Read(c.Context(), "one")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the import", got, next)
}

// wantImports fails unless ListImports returns exactly these, in this order.
func wantImports(c storeTest, limit int, want ...string) {
	c.Helper()
	page, err := storage.Imports(c.Store).List(c.Context(), limit)
	if err != nil {
		c.Fatal(err)
	}
	var got []string
	for _, imp := range page {
		got = append(got, imp.ID)
	}
	c.wantEqual("the list of imports", got, want)
}

func importsNewestFirst(c storeTest) {
	wantImports(c, 10)
	for id, after := range map[string]time.Duration{"d": 0, "b": time.Hour, "c": time.Hour, "a": -time.Hour} {
		putImport(c, anImport(id, day.Add(after)))
	}
	wantImports(c, 10, "b", "c", "d", "a")
	wantImports(c, 3, "b", "c", "d")
	wantImports(c, 0)
	page, err := storage.Imports(c.Store).List(c.Context(), 1)
	if err != nil {
		c.Fatal(err)
	}
	want := anImport("b", day.Add(time.Hour))
	want.Lines = nil
	c.wantEqual("a listed import", page, []storage.Import{want})
}

func oldImports(c storeTest) {
	id := func(n int) string { return fmt.Sprintf("import-%03d", n) }
	for n := range storage.MaxImports + 2 {
		putImport(c, storage.Import{ID: id(n), Started: day.Add(time.Duration(n) * time.Second)})
	}
	page, err := storage.Imports(c.Store).List(c.Context(), 1000)
	if err != nil || len(page) != storage.MaxImports || page[len(page)-1].ID != id(2) {
		c.Errorf("there are %d imports, %v; want the newest %d", len(page), err, storage.MaxImports)
	}
	_, err = storage.Imports(c.Store).Read(c.Context(), id(1))
	c.wantError("read an old import", err, storage.ErrNotFound)
}

func cancelImport(c storeTest) {
	c.wantError("cancel no import", storage.Imports(c.Store).Cancel(c.Context(), "none"), storage.ErrNotFound)
	imp := anImport("one", day)
	putImport(c, imp)
	if err := storage.Imports(c.Store).Cancel(c.Context(), "one"); err != nil {
		c.Fatal(err)
	}
	imp.Done++
	putImport(c, imp) // from a worker that has not read the cancellation
	imp.Cancel = true
	got, err := storage.Imports(c.Store).Read(c.Context(), "one")
	if err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the import", got, imp)
	imp.Started, imp.Cancel = day.Add(time.Second), false
	putImport(c, imp)
	if got, err = storage.Imports(c.Store).Read(c.Context(), "one"); err != nil {
		c.Fatal(err)
	}
	c.wantEqual("the import that was begun anew", got, imp)
}
