package bleve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	upstream "github.com/blevesearch/bleve/v2"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
)

// seen is the FirstSeen time of the items.
var seen = time.Unix(1e9, 0)

func word(ids ...string) []storage.IndexItem {
	var items []storage.IndexItem
	for _, id := range ids {
		items = append(items, storage.IndexItem{Item: storage.Item{ID: id, Title: "word", Published: seen, FirstSeen: seen}})
	}
	return items
}

func put(t *testing.T, x *bleve.Index, ids ...string) {
	t.Helper()
	if err := x.Put(t.Context(), word(ids...)...); err != nil {
		t.Fatalf("put: %v", err)
	}
}

// found returns the IDs of the items with the word "word", in ascending order.
func found(t *testing.T, x *bleve.Index) []string {
	t.Helper()
	results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}, Limit: storage.MaxLimit})
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	var ids []string
	for _, hit := range results.Hits {
		ids = append(ids, hit.ID)
	}
	slices.Sort(ids)
	return ids
}

// segments returns the files of the index that contain items, in the order of their names, which increase.
func segments(path string) []string {
	files, _ := filepath.Glob(filepath.Join(path, "store", "*.zap"))
	return files
}

func TestOpen_KeepsItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	if got := found(t, x); got != nil {
		t.Errorf("new index: got %v, want no items", got)
	}
	put(t, x, "a", "b")
	put(t, x, "c")
	if err := x.Delete(t.Context(), "b"); err != nil {
		t.Fatalf("delete: %v", err)
	}
	for range 2 {
		if err := x.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		x = open(t, path)
		if got := found(t, x); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("reopened index: got %v, want [a c]", got)
		}
	}
	put(t, x, "d")
	for range 2 { // closing twice is harmless
		if err := x.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := x.Put(t.Context(), word("e")...); err == nil {
		t.Error("put to a closed index succeeded")
	}
	if _, err := x.Search(t.Context(), storage.Query{}); err == nil {
		t.Error("search in a closed index succeeded")
	}
	if _, err := x.Days(t.Context()); err == nil {
		t.Error("days of a closed index succeeded")
	}
	if _, err := x.Stamps(t.Context(), storage.Day(seen), "", 1); err == nil {
		t.Error("stamps of a closed index succeeded")
	}
	if _, err := x.Count(t.Context()); err == nil {
		t.Error("count of a closed index succeeded")
	}
}

func TestOpen_ReportsBrokenIndex(t *testing.T) {
	state := func(path string) string { return filepath.Join(path, "store", "root.bolt") }
	truncate := func(t *testing.T, path string, size int64) {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"all segments empty": func(t *testing.T, path string) {
			for _, file := range segments(path) {
				truncate(t, file, 0)
			}
		},
		"newest segment short": func(t *testing.T, path string) {
			truncate(t, slices.Max(segments(path)), 100)
		},
		"newest segment tiny": func(t *testing.T, path string) {
			truncate(t, slices.Max(segments(path)), 10)
		},
		"newest segment missing": func(t *testing.T, path string) {
			if err := os.Remove(slices.Max(segments(path))); err != nil {
				t.Fatal(err)
			}
		},
		"state cut": func(t *testing.T, path string) { // mapped beyond the end of the file: a read causes a fault
			file, err := os.Stat(state(path))
			if err != nil {
				t.Fatal(err)
			}
			truncate(t, state(path), file.Size()/2)
		},
		"state empty":       func(t *testing.T, path string) { truncate(t, state(path), 0) },
		"state short":       func(t *testing.T, path string) { truncate(t, state(path), 9000) },
		"state tiny":        func(t *testing.T, path string) { truncate(t, state(path), 5000) },
		"state missing":     func(t *testing.T, path string) { os.Remove(state(path)) },
		"store missing":     func(t *testing.T, path string) { os.RemoveAll(filepath.Join(path, "store")) },
		"meta file empty":   func(t *testing.T, path string) { truncate(t, filepath.Join(path, "index_meta.json"), 0) },
		"meta file missing": func(t *testing.T, path string) { os.Remove(filepath.Join(path, "index_meta.json")) },
	} {
		t.Run(name, func(t *testing.T) {
			path := brokenIndex(t, damage)
			// The documented remedy: move the index away and create a new one.
			if err := os.Rename(path, path+".broken"); err != nil {
				t.Fatal(err)
			}
			x := open(t, path)
			put(t, x, "a")
			if got := found(t, x); !slices.Equal(got, []string{"a"}) {
				t.Errorf("new index: got %v, want [a]", got)
			}
			if err := x.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// brokenIndex returns the path of a damaged index that does not open. It retries damage that hits nothing in use:
// a segment of a merge that Close ended, or the half of the state's file without the newest state.
func brokenIndex(t *testing.T, damage func(t *testing.T, path string)) string {
	t.Helper()
	for range 20 {
		path := filepath.Join(t.TempDir(), "index")
		x := open(t, path)
		put(t, x, "a", "b")
		put(t, x, "c", "d")
		if err := x.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		damage(t, path)
		x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
		if errors.Is(err, bleve.ErrBroken) {
			t.Log(err)
			return path
		}
		if err != nil {
			t.Fatalf("open: %v, want ErrBroken", err)
		}
		items := found(t, x)
		x.Close()
		if !slices.Equal(items, []string{"a", "b", "c", "d"}) {
			t.Fatalf("it opened, with items %v", items)
		}
	}
	t.Fatal("it opened 20 times, with all items")
	return ""
}

// If the newest state is damaged scorch opens the previous state, if it is
// still present, and does not report that batches are missing.
func TestOpen_ReportsLostNewestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	put(t, x, "a")
	if err := x.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	older := segments(path)
	changeInside(t, path, func(inside upstream.Index) error {
		batch := inside.NewBatch()
		batch.SetInternal([]byte("feedmesh.batch"), []byte("newer"))
		return errors.Join(batch.Index("b", "some document"), inside.Batch(batch))
	})
	// All later files, because they may be merged already: the file of the newest state depends on scorch.
	for _, segment := range segments(path) {
		if slices.Contains(older, segment) {
			continue
		}
		if err := os.Remove(segment); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bleve.Open(path, slog.New(slog.DiscardHandler)); !errors.Is(err, bleve.ErrBroken) || !strings.Contains(err.Error(), "newest state") {
		t.Errorf("open an index that has lost its newest state: %v, want ErrBroken", err)
	}
}

func TestOpen_ReportsOtherFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	put(t, x, "a")
	if err := x.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	changeInside(t, path, func(inside upstream.Index) error {
		return inside.SetInternal([]byte("feedmesh.format"), []byte("0"))
	})
	if _, err := bleve.Open(path, slog.New(slog.DiscardHandler)); !errors.Is(err, bleve.ErrBroken) {
		t.Errorf("open an index of another format: %v, want ErrBroken", err)
	}
}

// changeInside changes an index without this package, and keeps the previous state.
func changeInside(t *testing.T, path string, change func(upstream.Index) error) {
	t.Helper()
	inside, err := upstream.OpenUsing(path, map[string]any{"numSnapshotsToKeep": 5})
	if err != nil {
		t.Fatal(err)
	}
	// As after a crash, there is no checksum of the list of segments.
	if err := errors.Join(change(inside), inside.Close(), os.Remove(filepath.Join(path, "root.sum"))); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_ReportsLockedIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	putting, output := startPutter(t, path)
	defer func() {
		_ = putting.Process.Kill()
		_ = putting.Wait() // "signal: killed"
	}()
	if !output.Scan() {
		t.Fatal("the putter put nothing")
	}
	begin := time.Now()
	if _, err := bleve.Open(path, slog.New(slog.DiscardHandler)); !errors.Is(err, bleve.ErrLocked) {
		t.Errorf("open an index that is open: %v, want ErrLocked", err)
	}
	if elapsed := time.Since(begin); elapsed > 10*time.Second { // for a busy machine
		t.Errorf("the error took %v", elapsed)
	}
	if !output.Scan() {
		t.Error("the other process could not go on")
	}
}

// putter is the environment variable that turns this test binary into a
// process which puts items into the index it names until it is killed.
const putter = "BLEVE_TEST_PUTTER"

func TestMain(m *testing.M) {
	if path := os.Getenv(putter); path != "" {
		fmt.Fprintln(os.Stderr, putUntilKilled(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func putUntilKilled(path string) error {
	x, err := bleve.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), n)
		if err := x.Put(context.Background(), word(id, id+"-too")...); err != nil {
			return err
		}
		fmt.Printf("%s\n%s-too\n", id, id)
	}
}

func TestPut_SurvivesAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	var put []string
	for _, lines := range []int{2, 7, 25} {
		put = append(put, killPutter(t, path, lines)...)
		x := open(t, path)
		stamps, err := x.Stamps(t.Context(), storage.Day(seen), "", 1e6)
		if err != nil {
			t.Fatalf("stamps: %v", err)
		}
		var got []string
		for _, s := range stamps {
			got = append(got, s.ID)
		}
		for _, id := range put {
			if !slices.Contains(got, id) {
				t.Errorf("item %s was put before the kill and is lost", id)
			}
		}
		results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}})
		if err != nil || results.Total != int64(len(got)) {
			t.Errorf("search found %d, %v, want %d", results.Total, err, len(got))
		}
		if err := x.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
}

// killPutter runs the putter until it has reported the given number of items, and kills it. It returns all
// reported IDs.
func killPutter(t *testing.T, path string, lines int) (ids []string) {
	t.Helper()
	putting, output := startPutter(t, path)
	for output.Scan() {
		if ids = append(ids, output.Text()); len(ids) == lines {
			if err := putting.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = putting.Wait() // "signal: killed"
	if len(ids) < lines {
		t.Fatalf("the putter put %d items, want %d", len(ids), lines)
	}
	return ids
}

func startPutter(t *testing.T, path string) (putting *exec.Cmd, output *bufio.Scanner) {
	t.Helper()
	putting = exec.Command(os.Args[0])
	putting.Env = append(os.Environ(), putter+"="+path)
	putting.Stderr = os.Stderr
	out, err := putting.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := putting.Start(); err != nil {
		t.Fatal(err)
	}
	return putting, bufio.NewScanner(out)
}

// A restart might stop again at the same files, so the index is replaced; if that does not help, it is reported.
func TestPut_StoppedBackgroundReplacesIndexOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	x := open(t, path)
	defer x.Close()
	stop := func() {
		t.Helper()
		before := len(asides(path))
		x.PanicAtMerge()
		var err error
		// The index may be replaced between two puts: those after it would fill the page of results that is checked.
		for n := 0; err == nil && len(asides(path)) == before && n < 500; n++ {
			err = x.Put(t.Context(), word(fmt.Sprint(n))...)
		}
		if err != nil && !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("put: got %v, want ErrUnavailable", err)
		}
	}
	stop()
	waitUntil(t, "an index beside the damaged one", func() bool {
		_, err := x.Count(t.Context())
		return err == nil && len(asides(path)) == 1
	})
	put(t, x, "a")
	if got := found(t, x); !slices.Contains(got, "a") {
		t.Errorf("the new index finds %v, want a", got)
	}
	stop()
	waitUntil(t, "an error of count", func() bool {
		_, err := x.Count(t.Context())
		return errors.Is(err, storage.ErrUnavailable) && strings.Contains(err.Error(), "restart the agent")
	})
	if len(found(t, x)) == 0 {
		t.Error("nothing is found any more")
	}
}

// asides returns the folders of indexes that were put aside.
func asides(path string) []string {
	dirs, _ := filepath.Glob(path + ".broken-*")
	return dirs
}

// waitUntil waits for a state, for at most half a minute.
func waitUntil(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not reached: %s", what)
		}
	}
}
