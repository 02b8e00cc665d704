package model

import (
	_ "embed"
	"sync"
)

// packed is the output of `go run ./tools/classify train`; default.md lists its source and metrics.
//
//go:embed default.model.gz
var packed []byte

// Shipped returns the encoded model that ships with the program. The caller must not change it.
func Shipped() []byte { return packed }

// Default returns the model of [Shipped], decoded on first use.
func Default() *Model { return defaultModel() }

var defaultModel = sync.OnceValue(func() *Model {
	m, err := Decode(packed)
	if err != nil {
		panic(err)
	}
	return m
})
