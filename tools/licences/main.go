// Licences prints the modules that a program is built from, with version and
// licence, and fails on a module without a recognised licence. Releases contain
// its output.
//
//	go run ./tools/licences ./agent > bin/LICENCES.md
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licences PACKAGE")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// A module is one that the program is built from.
type module struct {
	Path, Version, Dir string
}

func run(out io.Writer, program string) error {
	modules, err := modulesOf(program)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "# Licences of the modules in this program")
	fmt.Fprintln(out)
	fmt.Fprintln(out, "| module | version | licence |")
	fmt.Fprintln(out, "|---|---|---|")
	var unknown []error
	for _, m := range modules {
		name, err := licenceOf(m.Dir)
		if err != nil {
			unknown = append(unknown, fmt.Errorf("%s: %w", m.Path, err))
			continue
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", m.Path, m.Version, name)
	}
	return errors.Join(unknown...)
}

// modulesOf returns the modules that packages of the program come from, by path,
// without this one and the standard library.
func modulesOf(program string) ([]module, error) {
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", program)
	command.Stderr = os.Stderr
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list modules of %s: %w", program, err)
	}
	var modules []module
	for line := range strings.Lines(string(listed)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) == 3 {
			modules = append(modules, module{Path: fields[0], Version: fields[1], Dir: fields[2]})
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(modules), nil
}

// texts are phrases that only one licence contains, the more specific first.
var texts = []struct{ phrase, licence string }{
	{"Apache License", "Apache-2.0"},
	{"Mozilla Public License", "MPL-2.0"},
	{"GNU GENERAL PUBLIC LICENSE", "GPL"},
	{"GNU LESSER GENERAL PUBLIC LICENSE", "LGPL"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Neither the name of", "BSD-3-Clause"},
	{"endorse or promote products", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Permission to use, copy, modify, and distribute", "ISC"},
	{"This is free and unencumbered software", "Unlicense"},
	{"CC0 1.0", "CC0-1.0"},
}

var errNoLicence = errors.New("no recognised licence file")

// licenceOf returns the SPDX name of the licence in a module's folder.
func licenceOf(dir string) (string, error) {
	for _, pattern := range []string{"LICEN[SC]E*", "[Ll]icen[sc]e*", "COPYING*", "UNLICENSE*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			plain := strings.Join(strings.Fields(string(content)), " ")
			for _, t := range texts {
				if strings.Contains(plain, t.phrase) {
					return t.licence, nil
				}
			}
		}
	}
	return "", errNoLicence
}
