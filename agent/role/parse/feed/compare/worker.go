package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"strings"
	"time"

	"feedmesh/agent/wire"

	"github.com/mmcdole/gofeed"
)

// Worker is the child process: it parses the document on in with gofeed and writes a
// [Document] as JSON to out. It ends the process with a code of its own as soon as
// the process needs more than [MaxMemory]. The error is gofeed's; a panic of gofeed
// becomes an error.
func Worker(in io.Reader, out io.Writer) error {
	go limitMemory()
	parsed, err := parse(in)
	if err != nil {
		return err
	}
	d := Document{
		Title:  plain(parsed.Title),
		Format: strings.TrimSpace(parsed.FeedType + " " + parsed.FeedVersion), Entries: make([]wire.ParsedEntry, len(parsed.Items)),
	}
	for i, item := range parsed.Items {
		d.Entries[i] = wire.ParsedEntry{Title: plain(item.Title), Link: item.Link}
		switch {
		case item.PublishedParsed != nil:
			d.Entries[i].Published = item.PublishedParsed.UTC()
		case item.UpdatedParsed != nil:
			d.Entries[i].Published = item.UpdatedParsed.UTC()
		}
	}
	return json.NewEncoder(out).Encode(d)
}

func parse(in io.Reader) (parsed *gofeed.Feed, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return gofeed.NewParser().Parse(in)
}

// limitMemory ends the process when it has mapped more than MaxMemory. The runtime's
// own limit only makes collection more frequent.
func limitMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(checkInterval) {
		metrics.Read(sample)
		if sample[0].Value.Uint64()-sample[1].Value.Uint64() > MaxMemory {
			os.Exit(exitMemory)
		}
	}
}
