// Command train makes learned.txt, by which package spam tells messages apart. It
// takes files of JSON values, one a line, packed by gzip, with id, title, body,
// lang and, in some, label, and where to write:
//
//	go run ./classify/spam/train spam-ham.jsonl.gz lobsters.jsonl.gz habr-ru-labelled.jsonl.gz classify/spam/lists/learned.txt
//
// Records with the label "spam" are spam, all others are not; of those without a
// label a third as many are taken as have one, evenly. Of all records only half is looked
// at, so that the other half can tell how well it does: those of which bit 4 of
// the FNV-1a hash of the id, of 32 bits, is 0. The set datacamp-blog-comments,
// whose labels are odd, is left out.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"feedmesh/classify/spam"
)

// head says what the file is and where it comes from.
const head = `# In how many messages each word was, by stem: spam, and not spam. "words" is how
# many words these had, each counted once a message. "a_b" is two words in a row,
# "%5" a number of five digits. What people release and report is added here.
# Made by command train in classify/spam/train from half of each of these; the
# words and their counts are all that is left of them:
#
#   SMS Spam Collection, T. Almeida and J. Hidalgo, 2011, free to use
#   YouTube Spam Collection (one file), T. Alberto and J. Lochter, 2015
#   titles of lobste.rs (gustafe/hackernews-lobsters-pairs, Unlicense), titles and
#   teasers of habr.com: what spam is not
`

// A record is a line of a file.
type record struct{ ID, Set, Title, Body, Lang, Label string }

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: train FILE... LEARNED")
		os.Exit(2)
	}
	last := len(os.Args) - 1
	if err := train(os.Args[1:last], os.Args[last]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func train(files []string, to string) error {
	var labelled, others []spam.Example
	for _, file := range files {
		records, err := read(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		for _, r := range records {
			e := spam.Example{Document: spam.Document{Title: r.Title, Text: r.Body, Language: r.Lang}, Spam: r.Label == "spam"}
			switch {
			case !isTraining(r.ID) || r.Set == "datacamp-blog-comments":
			case r.Label != "":
				labelled = append(labelled, e)
			default:
				others = append(others, e)
			}
		}
	}
	examples := labelled
	for i, step := 0, max(1, 3*len(others)/max(1, len(labelled))); i < len(others); i += step {
		examples = append(examples, others[i])
	}
	return os.WriteFile(to, spam.Train(head, examples), 0o644)
}

func isTraining(id string) bool {
	h := fnv.New32a()
	io.WriteString(h, id)
	return h.Sum32()>>4&1 == 0
}

func read(file string) ([]record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	var all []record
	for d := json.NewDecoder(z); ; {
		var r record
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}
