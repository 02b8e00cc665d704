package encoding

import (
	"bytes"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"feedmesh/classify/language"
	"feedmesh/tests/corpus"
)

// labelsOf are encodings by language in which real feeds are written again.
var labelsOf = map[string]string{
	"en": "windows-1252", "de": "windows-1252", "fr": "windows-1252", "es": "windows-1252", "it": "windows-1252", "pt": "windows-1252", "sv": "windows-1252",
	"ru": "windows-1251 koi8-r", "uk": "windows-1251 koi8-u", "zh": "gbk", "ja": "shift_jis euc-jp", "ko": "euc-kr", "el": "windows-1253",
	"he": "windows-1255", "tr": "windows-1254", "pl": "windows-1250", "cs": "windows-1250",
}

var (
	tags        = regexp.MustCompile(`<[^<>]*>`)
	mojibake    = regexp.MustCompile(`â€|ï¿½`)
	declaration = regexp.MustCompile(`<\?xml[^>]*\?>`)
	languages   = regexp.MustCompile(`(?i)<((dc:)?language)>[^<]*</((dc:)?language)>|xml:lang=["'][^"']*["']`)
)

// TestCorpus_UndeclaredEncodings writes real feeds in encodings of their language,
// without a declaration, with and without the language. Feeds with at least 100 bytes outside of ASCII must be
// read. UTF-8 stays UTF-8.
func TestCorpus_UndeclaredEncodings(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	read, feeds := 0, 0
	for _, s := range corpus.Lines[struct{ File string }](t, filepath.Join(root, "manifest.jsonl")) {
		body := corpus.Bytes(t, filepath.Join(root, filepath.FromSlash(s.File)))
		if !utf8.Valid(body) || bytes.HasPrefix(body, []byte(ByteOrderMark)) || bytes.IndexByte(body, 0) >= 0 {
			continue
		}
		_, name, damage := Decode(body, "text/xml; charset=windows-1251")
		if name != "utf-8" && !escaped(body, declaredLabel(body)) {
			t.Errorf("%s: UTF-8 is read as %s", s.File, name)
		}
		if damage.Doubled || mojibake.Match(body) {
			continue // at least a part is UTF-8 when written in windows-1252
		}
		lang, _ := language.Detect(html.UnescapeString(tags.ReplaceAllString(string(body), " ")), declaredLanguage(body))
		body = declaration.ReplaceAll(body, nil)
		for label := range strings.FieldsSeq(labelsOf[lang]) {
			enc, _ := charset.Lookup(label)
			for _, document := range [][]byte{body, languages.ReplaceAll(body, nil)} {
				written, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).Bytes(document)
				if err != nil {
					t.Fatal(err)
				}
				if high(written) < 100 {
					continue
				}
				feeds++
				want, _ := enc.NewDecoder().Bytes(written)
				want = WithoutControls(validUTF8(want))
				if got, name, _ := Decode(written, ""); !bytes.Equal(got, want) {
					t.Errorf("%s in %s is read as %s", s.File, label, name)
				} else {
					read++
				}
			}
		}
	}
	t.Logf("%d of %d documents are read", read, feeds)
	if feeds < 40 {
		t.Errorf("%d documents were written, want at least 40", feeds)
	}
}

// high returns the number of bytes outside of ASCII.
func high(b []byte) (n int) {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
