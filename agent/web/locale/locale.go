// Package locale has the languages of the web pages: texts that are formatted in the language of a request, and templates
// whose English words are translated when they are parsed.
package locale

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// A Language formats texts. It may be used concurrently.
type Language struct {
	Code    string // of BCP 47, such as "en"
	Name    string // in the language itself
	tag     language.Tag
	printer *message.Printer
	load    func() catalogue // parses the translations at the first call and caches them
}

// English is the language in which texts are written in the program.
var English = newLanguage("en", "English", nil)

// Russian has the translations of ru.toml.
var Russian = newLanguage("ru", "Русский", russianFile)

//go:embed ru.toml
var russianFile []byte

// Languages are the languages of the pages, the default one first.
var Languages = []*Language{English, Russian}

var matcher = language.NewMatcher([]language.Tag{English.tag, Russian.tag})

// newLanguage returns a language with the translations of a TOML file; nil has none. Its texts panic if the file can't be
// decoded: it is embedded.
func newLanguage(code, name string, file []byte) *Language {
	tag := language.MustParse(code)
	return &Language{
		Code: code, Name: name, tag: tag, printer: message.NewPrinter(tag, message.Catalog(catalog.NewBuilder())),
		load: sync.OnceValue(func() catalogue {
			c, err := parseCatalogue(file)
			if err != nil {
				panic(fmt.Sprintf("locale: translations %s: %v", code, err))
			}
			return c
		}),
	}
}

// Cookie is the name of the cookie with the code of the chosen language.
const Cookie = "language"

// Of returns the language with a code, nil if there is none.
func Of(code string) *Language {
	for _, l := range Languages {
		if l.Code == code {
			return l
		}
	}
	return nil
}

// From returns the language that the client chose, or else the one that it accepts.
func From(r *http.Request) *Language {
	if c, err := r.Cookie(Cookie); err == nil {
		if l := Of(c.Value); l != nil {
			return l
		}
	}
	accepted, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil || len(accepted) == 0 {
		return English
	}
	_, index, _ := matcher.Match(accepted...)
	return Languages[index]
}

// A catalogue has translations by English text. Those of texts with a number are by the English text of several.
type catalogue struct {
	// Interface has the texts of pages, scripts and templates.
	Interface map[string]translation `toml:"interface"`
	// Service has texts that the services and other agents compose, in which each number is %s.
	Service map[string]translation `toml:"service"`
}

// A translation has the forms of a text by plural category of Unicode (CLDR). A text without number has only Other.
type translation struct {
	One, Few, Many, Other string
}

// UnmarshalText decodes a translation without number.
func (t *translation) UnmarshalText(text []byte) error {
	t.Other = string(text)
	return nil
}

func (t translation) form(f plural.Form) string {
	switch f {
	case plural.One:
		return t.One
	case plural.Few:
		return t.Few
	case plural.Many:
		return t.Many
	}
	return t.Other
}

func parseCatalogue(file []byte) (c catalogue, err error) {
	err = toml.Unmarshal(file, &c)
	return c, err
}
