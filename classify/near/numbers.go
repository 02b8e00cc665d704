package near

import "strings"

// numbers calls yield with each number of a folded title, in order: a run of digits that may contain points
// ("7.1").
func numbers(title string, yield func(number string) bool) {
	for i := 0; i < len(title); {
		if !isDigit(title[i]) {
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
		if strings.Contains(b, n) {
			numbers(b, func(m string) bool { found = m == n; return !found })
		}
		missing = !found
		return found
	})
	return missing
}
