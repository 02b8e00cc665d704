package browser

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"feedmesh/tests/chromium"
)

// minScore is the least score of a page in each category of Lighthouse, of 1.
const minScore = 0.95

// TestPages_Lighthouse judges the pages that people read most by Lighthouse, as on a desktop. A second run may improve the
// score of performance: other processes of the machine delay a page, but nothing makes it faster than it is.
func TestPages_Lighthouse(t *testing.T) {
	const program = "../engines/node_modules/lighthouse/cli/index.js"
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Skip("SKIPPED, NOT TESTED: lighthouse is not installed; run just engines")
	}
	browser, base := chromium.Program(t), sharedTestbed(t).address
	judged := []string{"news", "reading", "search", "stories", "feeds"}
	for _, p := range places(t, sharedTestbed(t), "postgresql") {
		if !slices.Contains(judged, p.name) {
			continue
		}
		report := lighthouse(t, program, browser, base+p.path)
		if report.Categories["performance"].Score < minScore {
			report.Categories["performance"] = lighthouse(t, program, browser, base+p.path).Categories["performance"]
		}
		for _, name := range []string{"performance", "accessibility", "best-practices"} {
			score := report.Categories[name].Score
			t.Logf("%-10s %-15s %.2f", p.name, name, score)
			if score < minScore {
				t.Errorf("%s: %s is %.2f, want %.2f; lost by %v", p.name, name, score, minScore, report.lost(name))
			}
		}
	}
}

// A report is a result of Lighthouse; scores are from 0 to 1.
type report struct {
	Categories map[string]category
	Audits     map[string]struct {
		Score        *float64 // nil: the audit is not scored
		DisplayValue string
	}
}

type category struct {
	Score     float64
	AuditRefs []struct {
		ID     string
		Weight float64
	}
}

// lost returns the audits by which a category has not the full score, with what was measured.
func (r report) lost(category string) (audits []string) {
	for _, ref := range r.Categories[category].AuditRefs {
		if audit := r.Audits[ref.ID]; ref.Weight > 0 && audit.Score != nil && *audit.Score < 0.9 {
			audits = append(audits, ref.ID+" "+audit.DisplayValue)
		}
	}
	return audits
}

func lighthouse(t *testing.T, program, browser, url string) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "node", program, url, "--quiet", "--preset=desktop", "--output=json",
		"--only-categories=performance,accessibility,best-practices", "--chrome-flags=--headless=new --no-sandbox")
	run.Env = append(os.Environ(), "CHROME_PATH="+browser)
	out, err := run.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("lighthouse %s: %v: %s", url, err, exit.Stderr)
		}
		t.Fatalf("lighthouse %s: %v", url, err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("lighthouse %s: %v", url, err)
	}
	return r
}
