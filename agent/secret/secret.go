// Package secret seals the passwords of feeds and proxies, the values of the headers that feeds are fetched with, and the
// receivers of subscriptions by the keys of a file ([Keys]). Store, schedule, queues and backups contain sealed values only;
// roles crawl and deliver open them, and role api to show addresses without their secrets. A sealed value states its key and its owner, and is bound to both.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// A sealed value is prefix, the key's ID, the owner's ID and the ciphertext with its nonce, separated by colons. The
// prefix is also the version of the format.
const prefix = "sealed:1:"

var encoding = base64.RawURLEncoding

// A sealed value in its parts.
type sealed struct {
	key   string // ID of the key
	owner string // ID of the feed, proxy or subscription
	data  []byte // nonce and AES-256-GCM ciphertext
}

// parse returns the parts of a sealed value, and false for a text that is not sealed.
func parse(text string) (s sealed, is bool) {
	rest, is := strings.CutPrefix(text, prefix)
	parts := strings.Split(rest, ":")
	if !is || len(parts) != 3 || len(parts[0]) != keyIDLength {
		return s, false
	}
	data, err := encoding.DecodeString(parts[2])
	return sealed{parts[0], parts[1], data}, err == nil
}

func (s sealed) String() string {
	return prefix + s.key + ":" + s.owner + ":" + encoding.EncodeToString(s.data)
}

// context is the associated data of a value: it can't be opened for another owner or field.
func (s sealed) context(field string) []byte { return []byte(prefix + s.owner + ":" + field) }

// newCipher returns AES-256-GCM with random nonces of 96 bits, which suffice for billions of values of one key.
func newCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal returns the value of an owner's field, sealed.
func (k key) seal(owner, field, text string) string {
	s := sealed{key: k.id, owner: owner}
	s.data = k.cipher.Seal(nil, nil, []byte(text), s.context(field))
	return s.String()
}

// errDamaged reports that a sealed value was changed, or moved from another owner or field.
var errDamaged = errors.New("its stored value was changed, or belongs to another feed or field")

func (k key) open(s sealed, field string) (string, error) {
	text, err := k.cipher.Open(nil, nil, s.data, s.context(field))
	if err != nil {
		return "", errDamaged
	}
	return string(text), nil
}

// A FileError reports that the key file can't be made or read, so that nothing is sealed.
type FileError struct {
	Operation string
	Err       error
}

func (e *FileError) Error() string {
	return e.Operation + " the key file: " + e.Err.Error() + ": see --secret-key-file"
}

func (e *FileError) Unwrap() error { return e.Err }

// A MissingKeyError reports that a value was sealed with a key that the key file does not contain.
type MissingKeyError struct {
	Key  string // its ID
	Path string // of the key file; empty: none is configured
	Err  error  // of reading the file; nil if it was read
}

// Error states the problem and the remedy.
func (e *MissingKeyError) Error() string {
	switch {
	case e.Path == "":
		return fmt.Sprintf("it is sealed with the key %s, and this agent has no key: set --secret-key-file, the same file for all agents", e.Key)
	case e.Err != nil:
		return fmt.Sprintf("it is sealed with the key %s: %v: restore the file; if it is lost, make a new one (openssl rand -base64 32 > %s) and enter the value again", e.Key, e.Err, e.Path)
	}
	return fmt.Sprintf("it is sealed with the key %s, which %s does not contain: add the key to the file; if it is lost, enter the value again", e.Key, e.Path)
}
