package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// prefix begins the secret of every token that was made here, so that people and
// programs that look for leaked ones know it when they see it.
const prefix = "fm_"

var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// newSecret returns prefix and 32 random bytes, in lower-case letters and digits.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return prefix + strings.ToLower(letters.EncodeToString(b))
}

// IsMade reports whether a secret looks like one of a token that was made here.
func IsMade(secret string) bool { return strings.HasPrefix(secret, prefix) }

// IsGuessable reports whether somebody may find a secret by trying all: it is
// one that a person thought of.
func IsGuessable(secret string) bool { return len(secret) < 20 }

// Hash returns what is kept of a secret: SHA-256, in hexadecimal. A slow hash, as
// passwords need, would add nothing: nobody can try 2^256 secrets, however quick
// each trial. And this one is made for every request.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
