package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// prefix begins every generated secret, so that people and scanners for leaked secrets recognize it.
const prefix = "fm_"

var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// newSecret returns prefix and 32 random bytes, in lower-case letters and digits.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return prefix + strings.ToLower(letters.EncodeToString(b))
}

// newSecretOf returns a secret that contains the ID of a person, by which its record is found.
func newSecretOf(person string) string {
	return prefix + person + "_" + strings.TrimPrefix(newSecret(), prefix)
}

// tokenMark follows the ID of the person in the secrets of tokens, which differ by it from those of sessions and links.
const tokenMark = "_t"

// newTokenOf returns the secret of a token of a person.
func newTokenOf(person string) string { return newSecretOf(person + tokenMark) }

// isTokenOfPerson reports whether a secret has the form of newTokenOf.
func isTokenOfPerson(secret string) bool {
	id, is := personIn(secret)
	return is && strings.HasPrefix(secret, prefix+id+tokenMark+"_")
}

// personIn returns the ID of the person in a secret of newSecretOf or newTokenOf; false for another secret.
func personIn(secret string) (id string, is bool) {
	id, _, is = strings.Cut(strings.TrimPrefix(secret, prefix), "_")
	return id, is && IsGenerated(secret)
}

// IsGenerated reports whether a secret has the form of a generated one.
func IsGenerated(secret string) bool { return strings.HasPrefix(secret, prefix) }

// IsGuessable reports whether a secret is short enough, as if chosen by a person, to be found by trying.
func IsGuessable(secret string) bool { return len(secret) < 20 }

// Hash returns the stored form of a secret: SHA-256 in hexadecimal. A slow password hash would add nothing,
// since 2^256 secrets can't be tried, and this hash is computed for every request.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
