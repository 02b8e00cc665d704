package near

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// A testFile is a file that counts and may fail.
type testFile struct {
	*os.File
	test *spillFiles
}

type spillFiles struct {
	t                testing.TB
	opened, closed   int
	failRead, failed error // of reads, and of writes
}

func (s *spillFiles) open() (File, error) {
	file, err := os.CreateTemp(s.t.TempDir(), "")
	if err != nil {
		return nil, err
	}
	s.opened++
	return testFile{file, s}, nil
}

func (f testFile) ReadAt(b []byte, at int64) (int, error) {
	if f.test.failRead != nil {
		return 0, f.test.failRead
	}
	return f.File.ReadAt(b, at)
}

func (f testFile) WriteAt(b []byte, at int64) (int, error) {
	if f.test.failed != nil {
		return 0, f.test.failed
	}
	return f.File.WriteAt(b, at)
}

func (f testFile) Close() error {
	f.test.closed++
	return f.File.Close()
}

// spillItem returns the signature of an item that often repeats one of the items long before it.
func spillItem(s *Settings, i int, random *rand.Rand) Signature {
	seed := uint64(i)
	if i > 0 && random.IntN(5) == 0 {
		seed = uint64(random.IntN(i))
	}
	m := signature(s, fmt.Sprint("item ", i), fmt.Sprint(random.IntN(50)), fmt.Sprintf("The title of item %x about thing %x", mix(seed), mix(seed+1)), news(seed))
	m.TextHash, m.Seen = fmt.Sprint(i), noon.Add(time.Duration(i)*time.Second)
	return m
}

func TestIndex_SpilledGivesEqualAnswers(t *testing.T) {
	t.Parallel()
	s := Default()
	s.MaxItems = 20_000
	files := &spillFiles{t: t}
	plain, spilled := NewIndex(s), NewIndex(s)
	spilled.Spill(files.open)
	random := rand.New(rand.NewPCG(1, 2))
	duplicates := 0
	for i := range 45_000 {
		switch i {
		case 39_000: // a block that changes returns to memory
			files.failed = errors.New("disk full")
		case 41_000:
			files.failed = nil
		}
		m := spillItem(&s, i, random)
		want, got := plain.Place(m), spilled.Place(m)
		if got != want {
			t.Fatalf("item %d: got %+v, want %+v as in memory", i, got, want)
		}
		if want.DuplicateOf != "" {
			duplicates++
		}
		if i%10_000 == 9_999 { // the block of an item that is in a file changes
			id := fmt.Sprint("item ", max(0, i-18_500))
			if want, got := plain.Split(id, want.DuplicateOf), spilled.Split(id, got.DuplicateOf); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("split %s: got %v, want %v as in memory", id, got, want)
			}
		}
	}
	blocks, err := spilled.Spilled()
	if err != nil || spilled.Err() != nil || blocks == 0 {
		t.Errorf("got %d blocks in files, %v, %v; want some and no errors", blocks, err, spilled.Err())
	}
	if open := files.opened - files.closed; duplicates < 4_000 || files.closed == 0 || open > 1+blocks*100_000/fileBytes+1 {
		t.Errorf("got %d duplicates, %d files opened and %d closed", duplicates, files.opened, files.closed)
	}
	if spilled.Close(); files.opened != files.closed {
		t.Errorf("got %d files open after Close", files.opened-files.closed)
	}
}

func TestIndex_KeepsBlocksInMemoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := Default()
	files := &spillFiles{t: t, failed: errors.New("disk full")}
	x := NewIndex(s)
	x.Spill(files.open)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		x.Place(spillItem(&s, i, random))
	}
	if blocks, err := x.Spilled(); blocks != 0 || !errors.Is(err, files.failed) || x.Err() != nil {
		t.Errorf("got %d blocks in files, %v, %v, want none and the error of the write", blocks, err, x.Err())
	}
	if got := x.Place(Signature{ItemID: "item 7", Seen: noon}); got != (Match{}) || x.Len() != 20_000 {
		t.Errorf("got %+v for an item that is stored, of %d items", got, x.Len())
	}
}

func TestIndex_ReportsBlocksThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := Default()
	files := &spillFiles{t: t}
	x := NewIndex(s)
	x.Spill(files.open)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		x.Place(spillItem(&s, i, random))
	}
	if x.Err() != nil {
		t.Fatal(x.Err())
	}
	files.failRead = errors.New("bad sector")
	if x.Place(Signature{ItemID: "item 7", Seen: noon}); !errors.Is(x.Err(), files.failRead) {
		t.Errorf("got %v, want the error of the read", x.Err())
	}
}
