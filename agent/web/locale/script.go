package locale

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// scriptText matches a call of t or n (theme.js) and captures its text: the one of several for n. Texts are constants in double
// quotes without escapes, and the number is an expression without commas.
var scriptText = regexp.MustCompile(`\b(?:t\("([^"\\]+)"|n\([^",\n]*, "[^"\\]+", "([^"\\]+)"\))`)

// ScriptTexts returns the sorted English texts of scripts that are translated. Those with a number contain %d.
func ScriptTexts(scripts ...[]byte) (texts []string) {
	for _, script := range scripts {
		for _, match := range scriptText.FindAllSubmatch(script, -1) {
			texts = append(texts, string(match[1])+string(match[2]))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Script returns a script that sets globalThis.texts to the translations of texts by English text: a string, or for one with a
// number its forms by category of Intl.PluralRules. It returns nil for a language without any.
func (l *Language) Script(texts []string) []byte {
	translated := map[string]any{}
	for _, text := range texts {
		t, found := l.load().Interface[text]
		switch {
		case !found:
		case t.One != "":
			translated[text] = map[string]string{"one": t.One, "few": t.Few, "many": t.Many, "other": t.Other}
		default:
			translated[text] = t.Other
		}
	}
	if len(translated) == 0 {
		return nil
	}
	content, err := json.Marshal(translated) // its escapes make the JSON valid JavaScript
	if err != nil {
		panic(err) // strings only
	}
	return fmt.Appendf(nil, "globalThis.texts = %s;\n", content)
}
