package service

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// An importList is a list of feeds in the format of Lines of a [storage.Import]: first a letter for each
// feed, its outcome, then all feeds in gzip, a JSON object each. A batch therefore rewrites letters only. The
// reason of an outcome is computed again from the address.
type importList struct {
	verdicts []byte
	packed   []byte
}

// The outcomeLetters of the outcomes.
var (
	outcomeLetters = map[string]byte{wire.ImportWaiting: '.', wire.ImportAdded: 'a', wire.ImportExisting: 'k', wire.ImportInvalid: 'i'}
	letterOutcomes = map[byte]string{'.': wire.ImportWaiting, 'a': wire.ImportAdded, 'k': wire.ImportExisting, 'i': wire.ImportInvalid}
)

// packList returns a list of feeds that all wait.
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
	return importList{bytes.Repeat([]byte{outcomeLetters[wire.ImportWaiting]}, len(feeds)), packed.Bytes()}, err
}

// listOf returns the list of an import.
func listOf(imp storage.Import) (importList, error) {
	if imp.Total < 0 || len(imp.Lines) < imp.Total {
		return importList{}, fmt.Errorf("import %s has no list", imp.ID)
	}
	return importList{bytes.Clone(imp.Lines[:imp.Total]), imp.Lines[imp.Total:]}, nil
}

// lines returns the list in the store's format.
func (l importList) lines() []byte {
	return append(bytes.Clone(l.verdicts), l.packed...)
}

// counts returns the number of processed feeds, and of each outcome.
func (l importList) counts() (done, added, existing, invalid int) {
	n := func(outcome string) int { return bytes.Count(l.verdicts, []byte{outcomeLetters[outcome]}) }
	added, existing, invalid = n(wire.ImportAdded), n(wire.ImportExisting), n(wire.ImportInvalid)
	return added + existing + invalid, added, existing, invalid
}

// chunks calls each with batches of at most size feeds, in order.
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

// raw calls each with the JSON of every feed, in order.
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

// errPageFull ends an iteration early.
var errPageFull = errors.New("there are more")

// from calls each with the feeds from index after on: all, or those with an outcome. An error of each ends
// the iteration; errPageFull is not returned.
func (l importList) from(after int, outcome string, each func(i int, result wire.ImportResult) error) error {
	err := l.raw(func(i int, line []byte) error {
		if i < after || outcome != "" && l.verdicts[i] != outcomeLetters[outcome] {
			return nil
		}
		var f opml.Feed
		if err := json.Unmarshal(line, &f); err != nil {
			return err
		}
		result, _ := read(f)
		result.Outcome = letterOutcomes[l.verdicts[i]]
		return each(i, result)
	})
	if errors.Is(err, errPageFull) {
		return nil
	}
	return err
}
