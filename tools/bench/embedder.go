package main

import (
	"encoding/json"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"

	"feedmesh/storage/meilisearch"
)

// A randomEmbedder is an embedder whose vectors are random, the same for the same text. Meilisearch calls it like a real one, which
// takes longer for each vector.
type randomEmbedder struct {
	*httptest.Server
}

func newRandomEmbedder(dimensions int) *randomEmbedder {
	seed := maphash.MakeSeed()
	return &randomEmbedder{httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		vectors := make([][]float32, len(in.Input))
		for i, text := range in.Input {
			chance := rand.New(rand.NewPCG(1, maphash.String(seed, text)))
			for range dimensions {
				vectors[i] = append(vectors[i], float32(chance.NormFloat64()))
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}))}
}

// settings returns the settings of the embedder in Meilisearch.
func (e *randomEmbedder) settings() meilisearch.Embedder {
	return meilisearch.Embedder{
		"source": "rest", "url": e.URL, "documentTemplate": "{{doc.title}}",
		"request":  map[string]any{"input": []any{"{{text}}", "{{..}}"}},
		"response": map[string]any{"embeddings": []any{"{{embedding}}", "{{..}}"}},
	}
}
