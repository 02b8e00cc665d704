package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestProvenance_NamesSumAndGoVersion(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(&b, []string{program}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Subject []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				InternalParameters struct {
					Builds []struct{ Settings map[string]string }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if len(got.Subject) != 1 || got.Subject[0].Name != filepath.Base(program) || got.Subject[0].Digest["sha256"] != hex.EncodeToString(sum[:]) {
		t.Errorf("got %+v, want the name and the sum of %s", got.Subject, program)
	}
	if builds := got.Predicate.BuildDefinition.InternalParameters.Builds; len(builds) != 1 || builds[0].Settings["go"] != runtime.Version() || builds[0].Settings["GOARCH"] != runtime.GOARCH {
		t.Errorf("got %+v, want the Go version and the build settings", builds)
	}
	if write(&b, []string{filepath.Join(t.TempDir(), "none")}) == nil || write(&b, nil) == nil {
		t.Error("a missing program is no error")
	}
}
