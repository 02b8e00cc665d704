package service

import (
	"fmt"
	"testing"
)

func TestTestFetch_OnePerClient(t *testing.T) {
	t.Parallel()
	var tests runningTests
	end, err := tests.start("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tests.start("a"); err == nil {
		t.Error("a second test of one client began")
	}
	for i := range maxFetchTests - 1 {
		if _, err := tests.start(fmt.Sprint(i)); err != nil {
			t.Errorf("another client can't test: %v", err)
		}
	}
	if _, err := tests.start("b"); err == nil {
		t.Error("more test fetches run than allowed")
	}
	end()
	if _, err := tests.start("a"); err != nil {
		t.Errorf("after its end: %v", err)
	}
}
