package encoding

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// TestDecode_C1ControlsAreWindows1252: they become the characters meant, unless the whole text is encoded twice.
func TestDecode_C1ControlsAreWindows1252(t *testing.T) {
	for in, want := range map[string]string{
		"<a>It\u0092s \u0093here\u0094 \u0085 é\u00a0я</a>": "<a>It’s “here” … é\u00a0я</a>",
		"\u0080": "€", "a\u0081\u0096": "a\u0081–", "я\u00a0\u0097": "я\u00a0—",
		"<a>é à\u00a0«»</a>": "<a>é à\u00a0«»</a>",
	} {
		if got, _, _ := Decode([]byte(in), ""); string(got) != want {
			t.Errorf("Decode(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestDecode_ConflictingEvidence covers conflicts between bytes, byte order marks and labels.
func TestDecode_ConflictingEvidence(t *testing.T) {
	const russian = "<rss><title>Съешь же ещё этих мягких французских булок</title></rss>"
	const german = "<rss><title>Größe und Übermut für alle Bürger – heute</title></rss>"
	const japaneseText = "<rss><title>データベースの索引を速くする方法</title></rss>"
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	declare := func(label, s string) string { return "<?xml version='1.0' encoding='" + label + "'?>" + s }
	for _, c := range []struct {
		name, text string
		enc        encoding.Encoding
		mark       string // before the encoded text
		header     string
	}{
		{"UTF-8", russian, encoding.Nop, "", ""},
		{"UTF-8 with a mark", russian, encoding.Nop, "\xEF\xBB\xBF", ""},
		{"UTF-8 declared as another charset", declare("windows-1251", russian), encoding.Nop, "", "text/xml; charset=koi8-r"},
		{"UTF-8 that claims to be UTF-16", declare("utf-16", russian), encoding.Nop, "", ""},
		{"UTF-16 with a mark", russian, utf16le, "\xFF\xFE", ""},
		{"UTF-16 without", declare("utf-16", russian), utf16le, "", ""},
		{"UTF-16, big-endian, without", russian, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "", ""},
		{"UTF-32", russian, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), "", ""},
		{"UTF-32, big-endian, with a mark", russian, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), "\x00\x00\xFE\xFF", ""},
		{"declaration", declare("koi8-r", russian), charmap.KOI8R, "", "text/xml; charset=windows-1251"},
		{"header", russian, charmap.CodePage866, "", "text/xml; charset=cp866"},
		{"header where the declaration is wrong", declare("utf-8", russian), charmap.Windows1251, "", "text/xml; charset=windows-1251"},
		{"unknown label", declare("utf8mb4", german), charmap.Windows1252, "", ""},
		{"escape sequences", declare("iso-2022-jp", japaneseText), japanese.ISO2022JP, "", ""},
		{"undeclared: windows-1251", russian, charmap.Windows1251, "", ""},
		{"undeclared: KOI8", russian, charmap.KOI8U, "", "text/xml"},
		{"undeclared: EUC-JP", japaneseText, japanese.EUCJP, "", ";"},
		{"undeclared: windows-1252", german, charmap.Windows1252, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := c.enc.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got, name, _ := Decode([]byte(c.mark+body), c.header); string(got) != c.text {
				t.Errorf("got %q as %s, want %q", got, name, c.text)
			}
		})
	}
}

// TestDecode_InvalidByteAffectsItselfOnly: an invalid byte affects that byte only.
func TestDecode_InvalidByteAffectsItselfOnly(t *testing.T) {
	for in, want := range map[string]string{
		"Größe \x93 und Übermut für Bürger":          "Größe \uFFFD und Übermut für Bürger",
		"<?xml encoding='utf-8'?>ä ö \xe4":           "<?xml encoding='utf-8'?>ä ö \uFFFD",
		"<?xml encoding='utf-8'?>\xc3\xa4 cut \xc3":  "<?xml encoding='utf-8'?>ä cut \uFFFD",
		"\xFF\xFE<rss>ä":                             "<rss>ä",
		"dÃ©jÃ\u00a0 vu cafÃ© Ã\u00a0 la crÃ¨me":     "déjà vu café à la crème",
		"dÃ©jÃ\u00a0 vu cafÃ© Ã\u00a0 la crÃ¨me – €": "dÃ©jÃ\u00a0 vu cafÃ© Ã\u00a0 la crÃ¨me – €",
		"one Ã© is a text about it":                  "one Ã© is a text about it",
		"\xEF\xBB\xBFa\xFFb":                         "a\uFFFDb",
		"a\uFFFEb\uFFFFc":                            "a\uFFFDb\uFFFDc",
		"<?xml encoding='gbk'?>\xc4\xe3\xff":         "<?xml encoding='gbk'?>你\uFFFD",
		"<?xml encoding='replacement'?>caf\xe9":      "<?xml encoding='replacement'?>café",
		"<?xml version='1.0' encoding?><rss>caf\xe9": "<?xml version='1.0' encoding?><rss>café",
	} {
		if got, _, _ := Decode([]byte(in), ""); string(got) != want {
			t.Errorf("Decode(%q) = %q, want %q", in, got, want)
		}
	}
}
