package main

import (
	"os"
	"strings"
	"testing"
)

func TestSelectedParts_ArgumentsFollowTheirPart(t *testing.T) {
	got, err := selectedParts([]string{"sweep", "-feeds", "5", "search", "-engine", "bleve", "idle"})
	if err != nil || len(got) != 3 || strings.Join(got[0], " ") != "sweep -feeds 5" || strings.Join(got[1], " ") != "search -engine bleve" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := selectedParts([]string{"swep"}); err == nil {
		t.Error("an unknown part is accepted")
	}
	if suite, _ := selectedParts(nil); len(suite) != 7 || suite[0][0] != "sweep" {
		t.Errorf("got %q, want the suite", suite)
	}
}

func TestLastLine_ReturnsTheLastLineWithoutPrefix(t *testing.T) {
	var l lastLine
	for _, piece := range []string{"first\nsec", "ond\nbench: no ", "disk\n"} {
		l.Write([]byte(piece))
	}
	if got := l.text(os.ErrClosed); got != "no disk" {
		t.Errorf("got %q, want %q", got, "no disk")
	}
	var silent lastLine
	if got := silent.text(os.ErrClosed); got != os.ErrClosed.Error() {
		t.Errorf("got %q without output, want the error", got)
	}
}
