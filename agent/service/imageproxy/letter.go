package imageproxy

import (
	"fmt"
	"hash/fnv"
	"html"
	"strings"
	"unicode"
)

// letterColors are the backgrounds of letters: white text on them has a contrast of at least 4.5.
var letterColors = []string{"#1f5aae", "#8a3ffc", "#0f6b5c", "#a3370f", "#9f1853", "#4a5d23", "#5a4fcf", "#6f4e37"}

// letterOf returns the first letter or digit of a name as an icon in the format SVG, without scripts.
func letterOf(name string) Picture {
	letter := "\u00b7"
	if i := strings.IndexFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }); i >= 0 {
		letter = strings.ToUpper(string([]rune(name[i:])[:1]))
	}
	sum := fnv.New32a()
	sum.Write([]byte(name))
	color := letterColors[sum.Sum32()%uint32(len(letterColors))]
	return Picture{"image/svg+xml", fmt.Appendf(nil,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="5" fill="%s"/>`+
			`<text x="12" y="17" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="14" fill="#fff">%s</text></svg>`,
		color, html.EscapeString(letter))}
}
