package language_test

import (
	"fmt"

	"feedmesh/classify/language"
)

func ExampleDetect() {
	fmt.Println(language.Detect("Der Kern der neuen Version ist deutlich schneller geworden.", ""))
	fmt.Println(language.Detect("Release notes", "en-US"))
	// Output:
	// de true
	// en true
}

func ExampleNormalize() {
	fmt.Println(language.Normalize("pt_BR"), language.Normalize("nb"))
	// Output: pt no
}
