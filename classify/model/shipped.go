package model

import (
	_ "embed"
	"sync"
)

// packed is what `agent classify train` wrote; default.md says from what, and how
// well it does.
//
//go:embed default.model.gz
var packed []byte

// Shipped returns the model that ships with the program, as [Decode] reads it. The
// caller must not change it.
func Shipped() []byte { return packed }

// Default returns the model of [Shipped].
func Default() *Model { return unpacked() }

var unpacked = sync.OnceValue(func() *Model {
	m, err := Decode(packed)
	if err != nil {
		panic(err)
	}
	return m
})
