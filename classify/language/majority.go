package language

// Majority returns the language of more than half of the texts whose language is sure without a prior, or ""
// if there is none. It is the prior of texts of one feed that declares no language.
func Majority(texts []string) string {
	counts := make(map[string]int)
	all := 0
	for _, text := range texts {
		if lang, sure := Detect(text, ""); sure {
			counts[lang]++
			all++
		}
	}
	for lang, n := range counts {
		if 2*n > all {
			return lang
		}
	}
	return ""
}
