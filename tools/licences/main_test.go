package main

import (
	"bytes"
	"strings"
	"testing"
)

// The licences that the program may be built with: each lets it be distributed
// under the Apache License 2.0.
var allowed = []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Unlicense", "CC0-1.0", "MPL-2.0"}

func TestRun_ListsEveryModuleWithAnAllowedLicence(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, "../../agent"); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(out.String()) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.Contains(cells[0], "/") {
			continue
		}
		rows++
		ok := false
		for _, a := range allowed {
			ok = ok || strings.TrimSuffix(cells[2], " |") == a
		}
		if !ok {
			t.Errorf("not an allowed licence: %s", line)
		}
	}
	if rows < 20 {
		t.Errorf("lists %d modules, want at least 20:\n%s", rows, out.String())
	}
}
