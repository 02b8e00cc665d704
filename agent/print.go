package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// isTerminal reports whether a person looks at what is written to w.
func isTerminal(w any) bool {
	if s, is := w.(*sink); is {
		w = s.Writer
	}
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd()))
}

// A sink remembers the first error of writing to it: output that is lost must
// not pass for output.
type sink struct {
	io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("can't write the output: %w", err)
	}
	return n, err
}

// sayAll tells the user what an error says, line by line.
func (p *program) sayAll(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line != "" {
			p.say("%s", line)
		}
	}
}

// say tells the user something, on standard error.
func (p *program) say(format string, args ...any) {
	text := bytes.NewBufferString("agent: ")
	(&page{w: text}).printf(format+"\n", args...)
	p.err.Write(text.Bytes())
}

// A page is text for a person. What strangers wrote reaches it only through
// printf and row, which leave nothing in it that a terminal would obey.
type page struct {
	w     io.Writer
	color bool
}

// page returns standard output.
func (p *program) page() *page {
	return &page{w: p.out, color: isTerminal(p.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// A styled is text that is clean and may hold escape sequences of ours.
type styled string

func (pg *page) printf(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = clean(v)
		case error:
			args[i] = clean(v.Error())
		case fmt.Stringer:
			args[i] = clean(v.String())
		}
	}
	fmt.Fprintf(pg.w, format, args...)
}

// table writes rows with their columns aligned.
func (pg *page) table(fill func(row func(cells ...any))) {
	tabs := tabwriter.NewWriter(pg.w, 0, 0, 2, ' ', 0)
	inner := &page{w: tabs}
	fill(func(cells ...any) {
		inner.printf(strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
	})
	tabs.Flush()
}

// strong returns text that stands out, where that can be.
func (pg *page) strong(s string) styled {
	if !pg.color || s == "" {
		return styled(clean(s))
	}
	return styled("\x1b[1;33m" + clean(s) + "\x1b[0m")
}

// clean returns s in one line, without what a terminal would obey or what
// would turn the direction of the text: those characters become U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case obeyed(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// obeyed reports whether a terminal does something else with r than show it.
func obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// cut returns s, or its first characters where there are more than max.
func cut(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	return string([]rune(s)[:max-1]) + "…"
}

// ago says in few words when t is, as seen from now.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d, form := now.Sub(t), "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	switch {
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf(form, fmt.Sprintf("%d s", d/time.Second))
	case d < time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d min", d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d h", d/time.Hour))
	case d < 30*24*time.Hour:
		return fmt.Sprintf(form, fmt.Sprintf("%d days", d/(24*time.Hour)))
	}
	return t.Local().Format(time.DateOnly)
}

// printJSON writes v as JSON: indented for a person, in one line for a program.
func (p *program) printJSON(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if isTerminal(p.out) {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.out.Write(escapeControls(text.Bytes()))
	return err
}

// escapeControls writes as \u escapes what JSON may hold as it is but a
// terminal would obey.
func escapeControls(text []byte) []byte {
	safe := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r >= ' ' && obeyed(r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
		} else {
			safe = utf8.AppendRune(safe, r)
		}
	}
	return safe
}
