// Prose counts words of the project's texts, so that plain technical English is a
// figure that CI can hold: personifying verbs and "what is" noun clauses should be
// rare, standard words of the field common. See docs/style.md for the limits.
//
// It reads Go comments outside tests, Markdown, and the string literals that users
// read: help and doc tags, messages of logs and errors. Usage:
//
//	go run ./tools/prose [-v] [FOLDER ...]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print each line that contains a counted phrase")
	flag.Parse()
	folders := flag.Args()
	if len(folders) == 0 {
		folders = []string{"."}
	}
	if err := run(os.Stdout, folders, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, folders []string, verbose bool) error {
	fmt.Fprintln(out, "folder\twords\tpersonifying\twhat-clauses\tstandard")
	for _, folder := range folders {
		texts, err := read(folder)
		if err != nil {
			return err
		}
		if verbose {
			for _, t := range texts {
				if c := count(t.text); c.personifying+c.whatClauses > 0 {
					fmt.Fprintf(out, "%s:%d: %s\n", t.file, t.line, t.text)
				}
			}
		}
		c := total(texts)
		fmt.Fprintf(out, "%s\t%d\t%.2f\t%.2f\t%.2f\n", folder, c.words,
			c.perThousand(c.personifying), c.perThousand(c.whatClauses), c.perThousand(c.standard))
	}
	return nil
}
