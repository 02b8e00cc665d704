// Provenance prints how programs were built: an in-toto statement with their SHA-256 sums, the source's commit, the Go
// version and the build settings that each program contains.
//
//	go run ./tools/provenance bin/agent-linux-amd64 bin/agent-linux-arm64 > provenance.json
//
// Source: in-toto Statement v1, SLSA Provenance v1.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

type object map[string]any

func main() {
	if err := write(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "provenance:", err)
		os.Exit(1)
	}
}

// write writes the statement about programs built from one commit.
func write(w io.Writer, programs []string) error {
	if len(programs) == 0 {
		return errors.New("name the programs")
	}
	var subjects, builds []object
	commit := ""
	for i, path := range programs {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		settings := object{"go": info.GoVersion}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		revision, _ := settings["vcs.revision"].(string)
		if i > 0 && revision != commit {
			return fmt.Errorf("%s was built from commit %q, %s from %q", path, revision, programs[0], commit)
		}
		commit = revision
		sum, name := sha256.Sum256(content), filepath.Base(path)
		subjects = append(subjects, object{"name": name, "digest": object{"sha256": hex.EncodeToString(sum[:])}})
		builds = append(builds, object{"name": name, "settings": settings})
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType": "feedmesh/just-release/v1", "externalParameters": object{"recipe": "just release"}, "internalParameters": object{"builds": builds},
				"resolvedDependencies": []object{{"uri": "git+feedmesh", "digest": object{"gitCommit": commit}}},
			},
			"runDetails": object{"builder": object{"id": "feedmesh/just"}},
		},
	})
}
