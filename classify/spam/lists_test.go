package spam

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestShippedListsParse(t *testing.T) {
	f, err := Parse(Shipped())
	if err != nil {
		t.Fatal(err)
	}
	d := items[0].Document
	if got, want := f.Judge(d, Habits{}).Score, Default().Judge(d, Habits{}).Score; got != want {
		t.Errorf("got %.3f by what Shipped returns, want %.3f", got, want)
	}
}

func TestWhatAnArchiveLeavesOutIsAsShipped(t *testing.T) {
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

func TestFaultsHaveFileAndLine(t *testing.T) {
	for _, test := range []struct{ archive, want string }{
		{"-- domains.txt --\n[a 1]\na b\nhttp://x.example\nx\n", "domains.txt:2: \"a b\" is no domain\ndomains.txt:3: \"http://x.example\" is no domain\ndomains.txt:4: \"x\" is no domain"},
		{"-- domains.txt --\n# x\n\nx.example\n", `domains.txt:3: a head such as "[casino 2]" must stand before it`},
		{"-- domains.txt --\n[a 1]\nx.example\nX.example. = 2\n", "domains.txt:3: it is at domains.txt:2 already"},
		{"-- phrases.txt --\n[a]\n", `phrases.txt:1: "" is no weight: a number from -20 to 20`},
		{"-- phrases.txt --\n[a NaN]\n", `phrases.txt:1: "NaN" is no weight: a number from -20 to 20`},
		{"-- phrases.txt --\n[a 1\n", `phrases.txt:1: "[a 1" is no head: want "[name weight]"`},
		{"-- phrases.txt --\n[a 1]\n...\nthe\nfree money = x\n", "phrases.txt:2: \"...\" has no word in it\nphrases.txt:3: \"the\" has stop words only, which are never looked at\nphrases.txt:4: \"x\" is no weight: a number from -20 to 20"},
		{"-- urls.txt --\n[a 1]\na*b*c\nx y z\n", "urls.txt:2: \"a*b*c\" is in too many addresses: want at least 4 letters in a row\nurls.txt:3: \"x y z\" has a space in it, which no address has"},
		{"-- weights.txt --\nprior x\nx 1\nthreshold 2\nprior\n", "weights.txt:1: \"x\" is no weight: a number from -20 to 20\nweights.txt:2: \"x\" is no weight that is used\nweights.txt:3: \"2\" is no weight: a number from 0.01 to 0.99\nweights.txt:4: it is at weights.txt:1 already"},
		{"-- sponsored.txt --\n[paid 1]\n", `sponsored.txt:1: "paid" is no flag: want sponsored or affiliate`},
		{"-- learned.txt --\nwords 1\nx -1 2\ny 1 2\ny 1 2\n", "learned.txt:1: want a word and two counts\nlearned.txt:2: \"-1\" is no count\nlearned.txt:4: it is at learned.txt:3 already"},
		{"-- spam.txt --\nx\n", `"spam.txt" is no list`},
		{"x\n-- urls.txt --\n", `"x" stands before the first file: it must begin with a line as "-- phrases.txt --"`},
		{"-- urls.txt --\n-- urls.txt --\n", "urls.txt is there twice"},
		{"-- urls.txt --\n[a 1]\n" + strings.Repeat("x", 2000) + "\n", "urls.txt:2: the line has 2000 bytes; 1000 are read at most"},
		{strings.Repeat("x", maxArchive+1), "the lists have 4194305 bytes; 4194304 are read at most"},
	} {
		f, err := Parse([]byte(test.archive))
		if f != nil || err == nil || err.Error() != test.want {
			t.Errorf("Parse(%.60q): got %v and %v, want %s", test.archive, f, err, test.want)
		}
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	_, err := Parse([]byte("-- domains.txt --\n[a 1]\n" + strings.Repeat("x\n", 150)))
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != maxFaults+1 || lines[maxFaults] != "and 50 more faults" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestLinesAreBounded(t *testing.T) {
	_, err := Parse([]byte("-- emails.txt --\n" + strings.Repeat("\n", maxLines)))
	if err == nil || !strings.Contains(err.Error(), "line 200000 of the lists: no more are read") {
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
			if v := filter.Judge(item.Document, Habits{}); !(v.Score >= 0 && v.Score <= 1) {
				t.Errorf("got %v", v)
			}
		}
	})
}
