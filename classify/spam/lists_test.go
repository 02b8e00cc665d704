package spam

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestParse_ShippedLists(t *testing.T) {
	f, err := Parse(Shipped())
	if err != nil {
		t.Fatal(err)
	}
	d := items[0].Document
	if got, want := f.Classify(d, History{}).Score, Default().Classify(d, History{}).Score; got != want {
		t.Errorf("got %.3f with the lists of Shipped, want %.3f", got, want)
	}
}

func TestParse_MissingFilesAreShipped(t *testing.T) {
	f, err := Parse([]byte("-- weights.txt --\nprior -2\n-- emails.txt --\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.weights[prior] != -2 || f.Threshold() != Default().Threshold() || len(f.domains) != len(Default().domains) {
		t.Errorf("got prior %v, threshold %v, %d domains", f.weights[prior], f.Threshold(), len(f.domains))
	}
	if len(f.emails) != 0 {
		t.Errorf("got %d patterns of mailboxes from an empty list", len(f.emails))
	}
}

func TestParse_ProblemsHaveFileAndLine(t *testing.T) {
	for _, test := range []struct{ archive, want string }{
		{"-- domains.txt --\n[a 1]\na b\nhttp://x.example\nx\n", "domains.txt:2: \"a b\" is not a domain\ndomains.txt:3: \"http://x.example\" is not a domain\ndomains.txt:4: \"x\" is not a domain"},
		{"-- domains.txt --\n# x\n\nx.example\n", `domains.txt:3: a header such as "[casino 2]" must precede it`},
		{"-- domains.txt --\n[a 1]\nx.example\nX.example. = 2\n", "domains.txt:3: it repeats domains.txt:2"},
		{"-- phrases.txt --\n[a]\n", `phrases.txt:1: "" is not a weight: use a number from -20 to 20`},
		{"-- phrases.txt --\n[a NaN]\n", `phrases.txt:1: "NaN" is not a weight: use a number from -20 to 20`},
		{"-- phrases.txt --\n[a 1\n", `phrases.txt:1: "[a 1" is not a header: want "[name weight]"`},
		{"-- phrases.txt --\n[a 1]\n...\nthe\nfree money = x\n", "phrases.txt:2: \"...\" contains no word\nphrases.txt:3: \"the\" contains stop words only, which are not indexed\nphrases.txt:4: \"x\" is not a weight: use a number from -20 to 20"},
		{"-- urls.txt --\n[a 1]\na*b*c\nx y z\n", "urls.txt:2: \"a*b*c\" matches too many URLs: want at least 4 consecutive letters\nurls.txt:3: \"x y z\" contains a space, which URLs do not"},
		{"-- weights.txt --\nprior x\nx 1\nthreshold 2\nprior\n", "weights.txt:1: \"x\" is not a weight: use a number from -20 to 20\nweights.txt:2: \"x\" is not a supported weight\nweights.txt:3: \"2\" is not a weight: use a number from 0.01 to 0.99\nweights.txt:4: it repeats weights.txt:1"},
		{"-- sponsored.txt --\n[paid 1]\n", `sponsored.txt:1: "paid" is not a flag: want sponsored or affiliate`},
		{"-- learned.txt --\nwords 1\nx -1 2\ny 1 2\ny 1 2\n", "learned.txt:1: want a word and two counts\nlearned.txt:2: \"-1\" is not a count\nlearned.txt:4: it repeats learned.txt:3"},
		{"-- spam.txt --\nx\n", `"spam.txt" is not a list`},
		{"x\n-- urls.txt --\n", `"x" precedes the first file: begin with a line such as "-- phrases.txt --"`},
		{"-- urls.txt --\n-- urls.txt --\n", "urls.txt is repeated"},
		{"-- urls.txt --\n[a 1]\n" + strings.Repeat("x", 2000) + "\n", "urls.txt:2: the line has 2000 bytes; the limit is 1000"},
		{strings.Repeat("x", maxArchive+1), "the lists have 4194305 bytes; the limit is 4194304"},
	} {
		f, err := Parse([]byte(test.archive))
		if f != nil || err == nil || err.Error() != test.want {
			t.Errorf("Parse(%.60q): got %v and %v, want %s", test.archive, f, err, test.want)
		}
	}
}

func TestParse_BoundsProblems(t *testing.T) {
	_, err := Parse([]byte("-- domains.txt --\n[a 1]\n" + strings.Repeat("x\n", 150)))
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != maxProblems+1 || lines[maxProblems] != "and 50 more problems" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestParse_BoundsLines(t *testing.T) {
	_, err := Parse([]byte("-- emails.txt --\n" + strings.Repeat("\n", maxLines)))
	if err == nil || !strings.Contains(err.Error(), "the lists have more than 200000 lines") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("-- phrases.txt --\n[a 1]\nfree money = 2\n\"call us\"\n-- learned.txt --\nwords 10 20\nfree 3 0\n"))
	f.Add([]byte("-- urls.txt --\n[a 1]\ncasino*bonus\n-- sponsored.txt --\n[affiliate 1]\nlink: tag=\ntitle: x\n"))
	f.Add([]byte("-- weights.txt --\nlong-text 20\ntitle-share 0\nmoney -20\n-- domains.txt --\n[a -3]\nb.example\n"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		for _, file := range files { // the shipped lists would take most of the time
			if !bytes.Contains(archive, []byte("-- "+file.name+" --")) {
				archive = append(archive, "\n-- "+file.name+" --\n"...)
			}
		}
		filter, err := Parse(archive)
		if (filter == nil) == (err == nil) {
			t.Fatalf("got %v and %v", filter, err)
		}
		if filter == nil {
			return
		}
		for _, item := range items[:3] {
			if v := filter.Classify(item.Document, History{}); !(v.Score >= 0 && v.Score <= 1) {
				t.Errorf("got %v", v)
			}
		}
	})
}
