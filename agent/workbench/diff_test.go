package workbench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDiff_UnifiedFormat(t *testing.T) {
	long := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	for _, test := range []struct{ name, old, new, want string }{
		{"equal", long, long, ""},
		{"a line changes", "a\nb\nc\n", "a\nB\nc\n", "--- o\n+++ n\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"a line comes", "a\nb\n", "a\nx\nb\n", "--- o\n+++ n\n@@ -1,2 +1,3 @@\n a\n+x\n b\n"},
		{"all goes", "a\nb\n", "", "--- o\n+++ n\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"all comes", "", "a\n", "--- o\n+++ n\n@@ -0,0 +1,1 @@\n+a\n"},
		{"the last line gets an end", "a", "a\n", "--- o\n+++ n\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"two places", long, strings.Replace(strings.Replace(long, "2\n3\n", "two\n3\n", 1), "13\n", "", 1),
			"--- o\n+++ n\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -10,5 +10,4 @@\n 10\n 11\n 12\n-13\n 14\n"},
		{"two places near each other", "1\n2\n3\n4\n5\n", "x\n2\n3\n4\ny\n", "--- o\n+++ n\n@@ -1,5 +1,5 @@\n-1\n+x\n 2\n 3\n 4\n-5\n+y\n"},
	} {
		if got := Diff("o", test.old, "n", test.new); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.name, got, test.want)
		}
	}
}

// patched applies a unified diff, and fails if it does not match the text.
func patched(t *testing.T, text, diff string) string {
	t.Helper()
	old, at := lines(text), 0
	var out []string
	for _, line := range lines(diff) {
		body := line[1:]
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case line[0] == '@':
			start, n, _ := strings.Cut(strings.TrimPrefix(strings.Fields(line)[1], "-"), ",")
			first, err := strconv.Atoi(start)
			if err != nil {
				t.Fatal(err)
			}
			if n != "0" {
				first--
			}
			out = append(out, old[at:first]...)
			at = first
		case line[0] == '\\':
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
		case line[0] == '+':
			out = append(out, body)
		default:
			if strings.TrimSuffix(old[at], "\n") != strings.TrimSuffix(body, "\n") {
				t.Fatalf("line %d is %q, the diff has %q", at+1, old[at], body)
			}
			if line[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		}
	}
	return strings.Join(append(out, old[at:]...), "")
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\nd\n", "b\nc\nx\nd")
	f.Add("", "a")
	f.Add("a\na\nb\na\n", "b\na\na\n")
	f.Fuzz(func(t *testing.T, old, new string) {
		diff := Diff("o", old, "n", new)
		if (diff == "") != (old == new) {
			t.Errorf("got %q for %q and %q", diff, old, new)
		}
		// The patch of the test can't distinguish a removed final line end from a kept one.
		if strings.Contains(diff, "\\ No newline") {
			return
		}
		if got := patched(t, old, diff); got != new {
			t.Errorf("got %q of %q by\n%s, want %q", got, old, diff, new)
		}
	})
}

func TestDiff_DifferentTextsAreFast(t *testing.T) {
	var old, new strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&old, "old %d\n", i)
		fmt.Fprintf(&new, "new %d\n", i)
	}
	began := time.Now()
	diff := Diff("o", "same\n"+old.String(), "n", "same\n"+new.String())
	if took := time.Since(began); took > 10*time.Second { // most take milliseconds
		t.Errorf("diff took %v", took)
	}
	if got := strings.Count(diff, "\n"); got != 2+1+1+100_000 {
		t.Errorf("got %d lines, want all replaced", got)
	}
}
