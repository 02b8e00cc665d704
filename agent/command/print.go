package command

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

// isTerminal reports whether w writes to a terminal.
func isTerminal(w any) bool {
	if s, is := w.(*sink); is {
		w = s.Writer
	}
	f, is := w.(*os.File)
	return is && term.IsTerminal(int(f.Fd()))
}

// A sink records the first write error, so that the command fails when its output is lost.
type sink struct {
	io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.Writer.Write(b)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("write output: %w", err)
	}
	return n, err
}

// printError prints each line of an error on standard error.
func (p *program) printError(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line != "" {
			p.notice("%s", line)
		}
	}
}

// notice prints a line on standard error, with the program's name in front.
func (p *program) notice(format string, args ...any) {
	text := bytes.NewBufferString("agent: ")
	(&page{w: text}).printf(format+"\n", args...)
	p.err.Write(text.Bytes())
}

// A page is text output for a person. Untrusted text reaches it only through printf and rows, which remove
// terminal control characters.
type page struct {
	w     io.Writer
	color bool
}

// page returns a page on standard output. Colour is used on terminals, unless NO_COLOR is set or TERM is
// dumb.
func (p *program) page() *page {
	return &page{w: p.out, color: isTerminal(p.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// A styled is cleaned text that may contain the program's own escape sequences.
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

// fields prints a table of names and values, without those that are empty.
func (pg *page) fields(fill func(line func(name, value string))) {
	pg.table(func(row func(cells ...any)) {
		fill(func(name, value string) {
			if value != "" {
				row(name, value)
			}
		})
	})
}

// strong returns emphasized text, or plain text without colour.
func (pg *page) strong(s string) styled {
	if !pg.color || s == "" {
		return styled(clean(s))
	}
	return styled("\x1b[1;33m" + clean(s) + "\x1b[0m")
}

// clean returns s in one line. Characters that control a terminal or change the direction of text become
// U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r', r == '\u2028', r == '\u2029':
			return ' '
		case isControl(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// isControl reports whether r is a control character for terminals or for text direction.
func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// truncate returns s, cut to max characters with an ellipsis.
func truncate(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	return string([]rune(s)[:max-1]) + "…"
}

// ago formats t relative to now: "5 min ago", "in 2 h". Times 30 days or more away are formatted as dates.
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

// printJSON writes v as JSON: indented on a terminal, else in one line.
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

// escapeControls replaces characters that are valid in JSON but control a terminal with \u escapes.
func escapeControls(text []byte) []byte {
	safe := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r >= ' ' && isControl(r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
		} else {
			safe = utf8.AppendRune(safe, r)
		}
	}
	return safe
}
