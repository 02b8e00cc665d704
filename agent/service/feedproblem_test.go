package service

import (
	"strings"
	"testing"
)

func TestFeedProblem_CoversAllErrorClasses(t *testing.T) {
	t.Parallel()
	for class, r := range remedies {
		if r.summary == "" || r.advice == "" || strings.HasSuffix(r.summary, ".") || !strings.HasSuffix(r.advice, ".") {
			t.Errorf("%s: %q, %q; want words and what to do", class, r.summary, r.advice)
		}
	}
	if got := DescribeClass("http 4xx", 404); got != "The address does not exist (HTTP 404)." {
		t.Errorf("got %q", got)
	}
	if got := DescribeClass("odd", 0); got != "Error: odd." {
		t.Errorf("got %q", got)
	}
}
