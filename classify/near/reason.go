package near

import (
	"fmt"
	"math"
	"strings"
)

// Reason explains the match in words: "same title but for the publisher's tail; 92 % of 4-grams".
func (l Similarity) Reason() string {
	var parts []string
	switch {
	case l.By == "title" && l.Title == 1 && l.stripped:
		parts = append(parts, "same title but for the publisher's tail or a wire's head")
	case l.By == "title" && l.Title == 1:
		parts = append(parts, "same title")
	case l.By == "title" && l.Title >= 0.9:
		parts = append(parts, "almost the same title", percent(l.Title)+" of 4-grams")
	case l.By == "title" && l.Matrix > 0:
		parts = append(parts, "similar titles", percent(l.Title)+" of 4-grams", "words "+percent(l.Matrix)+" alike")
	case l.By == "title":
		parts = append(parts, "similar titles", percent(l.Title)+" of 4-grams")
	case l.By == "body" && l.Resemblance >= 0.9:
		parts = append(parts, "almost the same text")
	case l.By == "body" && l.Resemblance >= l.Containment:
		parts = append(parts, "similar texts")
	case l.By == "body":
		parts = append(parts, "one text is part of the other")
	}
	if l.bodies {
		if l.Resemblance >= 0.5 || l.By == "body" && l.Resemblance > l.Containment {
			parts = append(parts, "about "+percent(l.Resemblance)+" of 4-word shingles")
		} else if l.Containment >= 0.5 {
			parts = append(parts, "about "+percent(l.Containment)+" of the shorter text's 4-word shingles")
		}
	}
	return strings.Join(parts, "; ")
}

// percent rounds down, so that 100 % means all.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", math.Floor(100*share)) }
