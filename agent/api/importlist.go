package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	"feedmesh/agent/opml"
	"feedmesh/storage"
)

// An importList is a list of feeds that is being taken in, as Lines of a
// [storage.Import] keep it: first a letter for each feed, what became of it,
// then all of them in gzip, a JSON object each. So a step of the work rewrites
// letters only, and what a letter stands for in words is found again from the
// address.
type importList struct {
	verdicts []byte
	packed   []byte
}

// The letters of the outcomes.
var (
	letters  = map[string]byte{Waiting: '.', Added: 'a', Known: 'k', Invalid: 'i'}
	outcomes = map[byte]string{'.': Waiting, 'a': Added, 'k': Known, 'i': Invalid}
)

// packList returns a list of which nothing is taken in yet.
func packList(feeds []opml.Feed) (importList, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	e := json.NewEncoder(zip)
	for _, f := range feeds {
		if err := e.Encode(f); err != nil {
			return importList{}, err
		}
	}
	err := zip.Close()
	return importList{bytes.Repeat([]byte{letters[Waiting]}, len(feeds)), packed.Bytes()}, err
}

// listOf returns the list of an import.
func listOf(imp storage.Import) (importList, error) {
	if imp.Total < 0 || len(imp.Lines) < imp.Total {
		return importList{}, fmt.Errorf("import %s has no list", imp.ID)
	}
	return importList{bytes.Clone(imp.Lines[:imp.Total]), imp.Lines[imp.Total:]}, nil
}

// lines returns the list as the store keeps it.
func (l importList) lines() []byte {
	return append(bytes.Clone(l.verdicts), l.packed...)
}

// counts returns how many feeds were looked at, and what became of them.
func (l importList) counts() (done, added, known, invalid int) {
	n := func(outcome string) int { return bytes.Count(l.verdicts, []byte{letters[outcome]}) }
	added, known, invalid = n(Added), n(Known), n(Invalid)
	return added + known + invalid, added, known, invalid
}

// chunks calls each with the feeds in chunks of at most size, in order.
func (l importList) chunks(size int, each func(from int, feeds []opml.Feed) error) error {
	var chunk []opml.Feed
	from := 0
	return l.raw(func(i int, line []byte) error {
		var f opml.Feed
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		if chunk = append(chunk, f); len(chunk) < size && i+1 < len(l.verdicts) {
			return nil
		}
		err := each(from, chunk)
		from, chunk = i+1, nil
		return err
	})
}

// raw calls each with the feeds as they are kept, in order.
func (l importList) raw(each func(i int, line []byte) error) error {
	zip, err := gzip.NewReader(bytes.NewReader(l.packed))
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(zip, 64<<10)
	for i := range l.verdicts {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		if err := each(i, line); err != nil {
			return err
		}
	}
	return nil
}

// errFull says that there are more feeds than a page takes.
var errFull = errors.New("there are more")

// from calls each with the feeds after the one of that number, the first being 1,
// as they are now: with all, or those with an outcome. What each returns ends it;
// errFull is no error.
func (l importList) from(after int, outcome string, each func(i int, intake Intake) error) error {
	err := l.raw(func(i int, line []byte) error {
		if i < after || outcome != "" && l.verdicts[i] != letters[outcome] {
			return nil
		}
		var f opml.Feed
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		intake, _ := read(f)
		intake.Outcome = outcomes[l.verdicts[i]]
		return each(i, intake)
	})
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}
