package spam_test

import (
	"fmt"

	"feedmesh/classify/spam"
)

func ExampleFilter_Classify() {
	filter := spam.Default()
	message := spam.Document{Text: "Free spins at our casino! Claim your bonus at www.example.bet", Language: "en"}
	v := filter.Classify(message, spam.History{})
	fmt.Println(v.Score >= filter.Threshold(), len(v.Reasons()) > 0)
	item := spam.Document{Title: "Go 1.26 is released", Text: "The Go team announces a new release.", URL: "https://go.dev/blog/go1.26", Language: "en"}
	fmt.Println(filter.Classify(item, spam.History{}).Score >= filter.Threshold())
	// Output:
	// true true
	// false
}
