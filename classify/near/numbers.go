package near

import (
	"strconv"
	"strings"
)

// numbers calls yield with each number of a folded title, in order: a run of digits that may contain points
// ("7.1"), or a Roman numeral from 2 to 39, as digits.
func numbers(title string, yield func(number string) bool) {
	for i := 0; i < len(title); {
		if !isDigit(title[i]) {
			if i == 0 || title[i-1] == ' ' {
				if n := roman(title[i:]); n != "" && !yield(n) {
					return
				}
			}
			i++
			continue
		}
		end := i + 1
		for end < len(title) && (isDigit(title[end]) || title[end] == '.' && end+1 < len(title) && isDigit(title[end+1])) {
			end++
		}
		if !yield(title[i:end]) {
			return
		}
		i = end
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// numbersDiffer reports whether two folded titles contradict each other: each has a number that the other
// lacks. A title that was cut short may have fewer.
func numbersDiffer(a, b string) bool { return lacks(a, b) && lacks(b, a) }

// lacks reports whether a contains a number that b does not.
func lacks(a, b string) (missing bool) {
	numbers(a, func(n string) bool {
		found := false
		numbers(b, func(m string) bool { found = m == n; return !found })
		missing = !found
		return found
	})
	return missing
}

// roman returns the number of the first word of a text, a Roman numeral of two letters or more, as digits; "" if it is
// none. One letter is more often a word or a version.
func roman(s string) string {
	word, _, _ := strings.Cut(s[:min(len(s), len("xxxviii "))], " ")
	return romans[word]
}

// romans are the Roman numerals of two letters or more up to 39, as digits.
var romans = func() map[string]string {
	all := make(map[string]string)
	for i, tens := range []string{"", "x", "xx", "xxx"} {
		for j, ones := range []string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"} {
			if numeral := tens + ones; len(numeral) > 1 {
				all[numeral] = strconv.Itoa(10*i + j)
			}
		}
	}
	return all
}()
