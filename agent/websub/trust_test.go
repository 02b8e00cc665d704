package websub

import "testing"

// TestTrust is earned slowly, lost fast, and never more than whole.
func TestTrust(t *testing.T) {
	var trust Trust
	trust.Missed()
	if trust != 0 {
		t.Errorf("a miss makes it %v of nothing", trust)
	}
	pushes := 0
	for trust < 0.9 && pushes < 100 {
		trust.Pushed()
		pushes++
	}
	if pushes != 9 {
		t.Errorf("after %d pushes it is %v, want 0.9 after 9", pushes, trust)
	}
	before := trust
	trust.Missed()
	if trust != before/2 {
		t.Errorf("a miss makes %v of %v, want half", trust, before)
	}
	for range 1000 {
		trust.Pushed()
	}
	if trust > 1 || trust < 0.99 {
		t.Errorf("it grows to %v, want 1 at most", trust)
	}
	for range 100 { // every second item is missed
		trust.Pushed()
		trust.Missed()
	}
	if trust > 0.25 {
		t.Errorf("a hub that loses every second item is trusted by %v", trust)
	}
}
