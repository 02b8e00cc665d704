package storage_test

import (
	"testing"

	"feedmesh/storage"
)

func TestSentimentOf_NamesRanges(t *testing.T) {
	t.Parallel()
	for sentiment, want := range map[float64]string{
		-1: "negative", -0.2501: "negative", -0.25: "neutral", -1e-9: "neutral", 0: "", 1e-9: "neutral", 0.25: "neutral", 0.2501: "positive", 1: "positive",
	} {
		if got := storage.SentimentOf(sentiment); got != want {
			t.Errorf("%v: got %q, want %q", sentiment, got, want)
		}
	}
}
