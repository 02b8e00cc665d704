// Configuration writes docs/configuration.md: every setting of an agent with its
// flag, environment variable, key in a file, default and help, from the same
// definition that the command line is parsed by.
//
//	go run ./tools/configuration > docs/configuration.md
package main

import (
	"fmt"
	"os"
)

func main() {
	page, err := document()
	if err != nil {
		fmt.Fprintln(os.Stderr, "configuration:", err)
		os.Exit(1)
	}
	fmt.Print(page)
}
