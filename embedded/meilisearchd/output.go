package meilisearchd

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
)

// output writes the program's lines to a log. [exec.Cmd] calls Write from one goroutine.
type output struct {
	log     *slog.Logger
	rest    []byte // begin of an incomplete line, at most maxLine bytes
	failure string // the line that states why the program ended
}

const maxLine = 16 << 10

// Write implements [io.Writer].
func (o *output) Write(b []byte) (int, error) {
	o.rest = append(o.rest, b...)
	for {
		line, rest, found := bytes.Cut(o.rest, []byte("\n"))
		if !found && len(o.rest) < maxLine {
			return len(b), nil
		}
		o.line(strings.TrimSpace(string(line)))
		o.rest = rest
	}
}

func (o *output) line(line string) {
	if line == "" {
		return
	}
	if reason, is := strings.CutPrefix(line, "Error: "); is {
		o.failure = reason
	}
	o.log.Log(context.Background(), level(line), "Meilisearch output", "line", line)
}

// reason returns the program's message about its end, empty if it had none.
func (o *output) reason() string { return o.failure }

// level returns the level of a line. Most lines without a level are those of the banner at each start.
func level(line string) slog.Level {
	if strings.Contains(line, " ERROR ") {
		return slog.LevelError
	}
	return slog.LevelDebug
}
