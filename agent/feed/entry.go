package feed

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// An Entry is what the publisher wrote. All strings are valid UTF-8 without
// control characters and no longer than the limits of this package. Addresses are
// http or https ones and absolute, unless neither the document nor whoever has
// it tells what they are relative to.
type Entry struct {
	Key        string      // what tells the entry from the others of its feed, over time
	Hash       string      // of everything in it that a reader would see change
	GUID       string      // as written; "" if it is too long
	Link       string      // "" if there is none
	Title      string      // may have markup and entities in it
	HTML       string      // the content, or the summary where there is none
	Summary    string      // HTML; only where there is content besides, and another
	Author     string      // names or addresses, joined by ", "
	Published  time.Time   // zero where missing or unreadable
	Updated    time.Time   // zero where missing or unreadable
	Dated      string      // the published date as written, "" if none: tells missing from unreadable
	Image      string      // what the feed names as the entry's image, not what its HTML shows
	Enclosures []Enclosure // at most 20, with different addresses
	Comments   string      // address of the discussion
	Source     string      // title of the feed it was taken from
	Language   string      // as written; "" where only the feed tells, or nobody
	Tags       []string
}

// empty reports whether an entry says nothing at all.
func (e *Entry) empty() bool {
	return e.GUID == "" && e.Link == "" && e.Title == "" && e.HTML == "" && e.Dated == "" && e.Updated.IsZero() &&
		e.Image == "" && len(e.Enclosures) == 0 && e.Comments == "" && e.Author == "" && e.Source == "" && len(e.Tags) == 0
}

// clip returns s without white space around it, as valid UTF-8 without control
// characters and cut to limit bytes.
func clip(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = strings.Clone(s[:limit]) // lets go of the rest
	}
	if !utf8.ValidString(s) { // which is much quicker to tell than to make so
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) > limit {
		return clip(s, limit) // U+FFFD is longer than what it replaces
	}
	return withoutControls(s)
}

// address returns s, or "" if it is too long to be kept.
func address(s string) string {
	if len(s) > maxAddress && len(strings.TrimSpace(s)) > maxAddress {
		return ""
	}
	return clip(s, maxAddress)
}

// tags returns the first different tags of a list.
func tags(all []string) []string {
	var kept []string
	for _, tag := range all {
		tag = clip(tag, maxTag)
		if tag != "" && !slices.Contains(kept, tag) {
			kept = append(kept, tag)
		}
		if len(kept) == maxTags {
			break
		}
	}
	return kept
}

// withoutControls returns s without the characters that XML forbids and that
// are valid UTF-8, s itself if there are none.
func withoutControls[T string | []byte](s T) T {
	i := beforeControl(s)
	if i == len(s) {
		return s
	}
	kept := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if !isControl(s[i]) {
			kept = append(kept, s[i])
		}
	}
	return T(kept)
}

// beforeControl returns how many bytes of s precede its first such character. Eight
// at a time are looked at, as most texts have none in all their lines.
//
// Source: S. E. Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less
// than n".
func beforeControl[T string | []byte](s T) int {
	const ones = 0x0101010101010101
	for i := 0; i < len(s); {
		if rest := s[i:]; len(rest) >= 8 {
			word := uint64(rest[0]) | uint64(rest[1])<<8 | uint64(rest[2])<<16 | uint64(rest[3])<<24 |
				uint64(rest[4])<<32 | uint64(rest[5])<<40 | uint64(rest[6])<<48 | uint64(rest[7])<<56
			if (word-0x20*ones)&^word&tops == 0 {
				i += 8
				continue
			}
		}
		if isControl(s[i]) {
			return i
		}
		i++
	}
	return len(s)
}

// tops are the highest bits of eight bytes, which no character of ASCII has set.
const tops = 0x8080808080808080

func isControl(c byte) bool { return c < 0x20 && c != '\t' && c != '\n' && c != '\r' }
