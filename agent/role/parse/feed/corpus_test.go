package feed

import (
	"path/filepath"
	"strings"
	"testing"

	"feedmesh/tests/corpus"
)

// A sample is a line of the corpus's manifest or of its list of encodings.
type sample struct {
	File        string `json:"file"`
	URL         string `json:"url"`
	Root        string `json:"root"`
	BodyGzip    bool   `json:"body_gzip"`
	WellFormed  bool   `json:"wellformed"` // according to an XML parser
	Base        string `json:"base"`
	Expect      string `json:"expect"`
	ContentType string `json:"http_content_type"`
}

// body returns a document of the corpus as published.
func body(t testing.TB, root string, s sample) []byte {
	b := corpus.Bytes(t, filepath.Join(root, filepath.FromSlash(s.File)))
	if s.BodyGzip {
		b = corpus.Gunzip(t, b)
	}
	return b
}

// TestCorpus_TruncatedDocumentsKeepTheirFirstEntries truncates real documents at several places. The result
// must be the first entries of the complete document, unchanged, and must report the truncation.
func TestCorpus_TruncatedDocumentsKeepTheirFirstEntries(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	cuts, lost, halves := 0, 0, 0
	for _, s := range corpus.Lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
		whole := body(t, root, s)
		doc, err := Parse(whole, "", s.URL)
		if err != nil || !s.WellFormed || len(doc.Entries) < 4 || doc.Malformed != "" {
			continue
		}
		for _, percent := range []int{50, 75, 93} {
			part, err := Parse(whole[:len(whole)*percent/100], "", s.URL)
			cuts++
			if err != nil {
				lost++ // the truncated part contains nearly nothing before the first entry's end
				continue
			}
			checkInvariants(t, s.File, part, err)
			for i, e := range part.Entries {
				if e.Hash == doc.Entries[i].Hash || len(part.Entries) == 1 {
					continue
				}
				// The last entry may lack some of its last fields if they have the same name.
				if halves++; i < len(part.Entries)-1 {
					t.Errorf("%s: cut off at %d %%, entry %d of %d is not the one of the whole document", s.File, percent, i, len(part.Entries))
				}
			}
			if len(part.Entries) < len(doc.Entries) && !strings.Contains(part.Malformed, cutOff.String()) {
				t.Errorf("%s: truncated at %d %%, but only %q is reported", s.File, percent, part.Malformed)
			}
		}
	}
	t.Logf("%d documents cut off, of %d not one entry is left, %d end with half an entry", cuts, lost, halves)
	if cuts < 500 || lost > cuts/20 || halves > cuts/100 {
		t.Errorf("of %d documents %d are lost, %d end with half an entry", cuts, lost, halves)
	}
}
