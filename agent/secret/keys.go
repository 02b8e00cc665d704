package secret

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"feedmesh/storage"
	"feedmesh/storage/backup"
)

const (
	keySize     = 32 // bytes
	keyIDLength = 8  // hexadecimal digits
)

// A key seals and opens values.
type key struct {
	id     string
	cipher cipher.AEAD
}

func newKey(secret []byte) (key, error) {
	c, err := newCipher(secret)
	sum := sha256.Sum256(append([]byte("feedmesh key ID\n"), secret...))
	return key{hex.EncodeToString(sum[:])[:keyIDLength], c}, err
}

// Options are the parameters of [Open].
type Options struct {
	Path   string // of the key file; empty: no values are sealed
	Create bool   // make the key file when a value is sealed for the first time

	// Store names the keys of its sealed values, so that no new key is made while an old one is missing; nil in
	// processes that only open values.
	Store storage.Records
}

// Keys are the keys of a file: one a line, 32 bytes in base64. The first seals, the others open what was sealed before a
// rotation. The file is read again when a key is missing. The methods may be called concurrently. Nil Keys leave values
// in clear text.
type Keys struct {
	Options

	mu     sync.Mutex
	keys   []key
	err    error            // of the last reading of the file
	failed map[string]error // errors of the last [Renewal] by owner
	clear  int              // owners with values in clear text at the last renewal
	polls  map[string]failure
}

// Open reads the key file. Its errors are reported by [Keys.Check] and by all that need a key.
func Open(o Options) *Keys {
	k := &Keys{Options: o, polls: map[string]failure{}}
	k.read()
	return k
}

// read reads the file. The caller holds the lock, except in Open.
func (k *Keys) read() {
	if k.Path != "" {
		k.keys, k.err = readKeys(k.Path)
	}
}

func readKeys(path string) (keys []key, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		secret, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(secret) != keySize {
			return nil, fmt.Errorf("%s: a line is no key: write %d bytes in base64, as openssl rand -base64 %d does", path, keySize, keySize)
		}
		k, err := newKey(secret)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s contains no key", path)
	}
	return keys, nil
}

// find returns the key with an ID. The caller holds the lock.
func (k *Keys) find(id string) (key, error) {
	for again := false; ; again = true {
		if i := slices.IndexFunc(k.keys, func(has key) bool { return has.id == id }); i >= 0 {
			return k.keys[i], nil
		}
		if again || k.Path == "" {
			return key{}, &MissingKeyError{id, k.Path, k.err}
		}
		k.read()
	}
}

// first returns the key that seals, after the store names it, and false without a key file. It makes the file if
// that may be. The caller holds the lock.
func (k *Keys) first(ctx context.Context) (first key, is bool, err error) {
	named, err := k.named(ctx)
	if err != nil {
		return key{}, false, err
	}
	k.read() // never seal with a key whose file is gone
	switch {
	case k.Path == "" && len(named) > 0:
		return key{}, false, &MissingKeyError{Key: named[0]}
	case k.Path == "":
		return key{}, false, nil
	case errors.Is(k.err, fs.ErrNotExist) && len(named) > 0:
		return key{}, false, &MissingKeyError{named[0], k.Path, k.err}
	case errors.Is(k.err, fs.ErrNotExist) && k.Create:
		if err := createKeys(k.Path); err != nil {
			return key{}, false, &FileError{"make", err}
		}
		k.read()
	}
	if k.err != nil {
		return key{}, false, &FileError{"read", k.err}
	}
	if first = k.keys[0]; slices.Contains(named, first.id) {
		return first, true, nil
	}
	return first, true, k.name(ctx, append(named, first.id))
}

// createKeys makes a key file with a random key.
func createKeys(path string) error {
	secret := make([]byte, keySize)
	rand.Read(secret) // never fails
	partial := path + ".partial"
	if err := os.WriteFile(partial, []byte(base64.StdEncoding.EncodeToString(secret)+"\n"), 0o600); err != nil {
		return err
	}
	return backup.Commit(partial, path)
}

// noteName is the note of a store with the IDs of the keys of its sealed values, separated by spaces.
const noteName = "secret keys"

// named returns the IDs of the keys that the store names.
func (k *Keys) named(ctx context.Context) ([]string, error) {
	if k.Store == nil {
		return nil, nil
	}
	text, err := storage.Notes(k.Store).Read(ctx, noteName)
	return strings.Fields(string(text)), err
}

func (k *Keys) name(ctx context.Context, ids []string) error {
	if k.Store == nil {
		return nil
	}
	return storage.Notes(k.Store).Put(ctx, storage.Fence{}, noteName, []byte(strings.Join(ids, " ")))
}
