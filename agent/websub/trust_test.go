package websub

import "testing"

// Trust rises slowly, falls fast, and is at most 1.
func TestTrust_RisesSlowlyFallsFast(t *testing.T) {
	var trust Trust
	trust.Missed()
	if trust != 0 {
		t.Errorf("got %v after a miss without pushes, want 0", trust)
	}
	pushes := 0
	for trust < 0.9 && pushes < 100 {
		trust.Pushed()
		pushes++
	}
	if pushes != 9 {
		t.Errorf("got %d pushes to reach %v, want 9 to reach 0.9", pushes, trust)
	}
	before := trust
	trust.Missed()
	if trust != before/2 {
		t.Errorf("got %v after a miss at %v, want half", trust, before)
	}
	for range 1000 {
		trust.Pushed()
	}
	if trust > 1 || trust < 0.99 {
		t.Errorf("got %v after many pushes, want almost 1", trust)
	}
	for range 100 { // every second item is missed
		trust.Pushed()
		trust.Missed()
	}
	if trust > 0.25 {
		t.Errorf("got %v while every second item is missed, want 0.25 at most", trust)
	}
}
