package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/secure/precis"
)

// Bounds of passwords. There are no rules of composition.
//
// Source: NIST SP 800-63B, 5.1.1.
const (
	MinPassword = 12   // characters
	MaxPassword = 1024 // bytes
)

// ErrBadPassword reports a new password that is too short, too long or unreadable.
var ErrBadPassword = fmt.Errorf("a password has at least %d characters, and no more than %d bytes", MinPassword, MaxPassword)

// ErrBusy reports that too many passwords are being checked.
var ErrBusy = errors.New("too many logins are in progress: retry in a few seconds")

// Parameters of new hashes. Source: OWASP Password Storage Cheat Sheet.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	saltSize     = 16 // bytes
	keySize      = 32 // bytes
)

// Bounds of work at the same time: two hashes take 38 MiB.
const (
	maxHashing = 2
	maxQueued  = 32 // logins that wait for the pool; further logins get [ErrBusy]
)

// A passwordHasher computes Argon2id hashes of passwords with a pool of maxHashing slots, which bounds the memory. A queue
// buffers other logins.
type passwordHasher struct {
	queue, slots chan struct{}
	dummy        func() string // a hash of no password, to be checked for unknown people
}

// prepared returns the form of a password that is hashed: equal characters have equal bytes.
//
// Source: RFC 8265, OpaqueString.
func prepared(password string) (string, error) {
	if len(password) > MaxPassword {
		return "", ErrBadPassword
	}
	text, err := precis.OpaqueString.String(password)
	if err != nil {
		return "", ErrBadPassword
	}
	return text, nil
}

// hash returns the stored form of a new password, a string in PHC format. The error may be [ErrBadPassword], [ErrBusy],
// or that of ctx.
func (h *passwordHasher) hash(ctx context.Context, password string) (string, error) {
	text, err := prepared(password)
	if err != nil || utf8.RuneCountInString(text) < MinPassword {
		return "", ErrBadPassword
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	p := phc{argonMemory, argonTime, argonThreads, salt, nil}
	if p.key, err = h.derive(ctx, p, text, keySize); err != nil {
		return "", err
	}
	return p.String(), nil
}

// matches reports whether a password has a hash. An empty hash matches nothing and takes the same time. The error may be
// [ErrBusy], that of ctx, or report an unreadable hash.
func (h *passwordHasher) matches(ctx context.Context, hash, password string) (bool, error) {
	none := hash == ""
	if none {
		hash = h.dummy()
	}
	p, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	text, err := prepared(password)
	if err != nil {
		return false, nil
	}
	key, err := h.derive(ctx, p, text, len(p.key))
	return err == nil && subtle.ConstantTimeCompare(key, p.key) == 1 && !none, err
}

// derive computes a key, after those that are in progress.
func (h *passwordHasher) derive(ctx context.Context, p phc, password string, size int) ([]byte, error) {
	select {
	case h.queue <- struct{}{}:
		defer func() { <-h.queue }()
	default:
		return nil, ErrBusy
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), p.salt, p.time, p.memory, p.threads, uint32(size)), nil
}

// A phc is an Argon2id hash with its parameters.
//
// Source: the PHC string format, github.com/P-H-C/phc-string-format.
type phc struct {
	memory, time uint32 // memory in KiB
	threads      uint8
	salt, key    []byte
}

func (p phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		base64.RawStdEncoding.EncodeToString(p.salt), base64.RawStdEncoding.EncodeToString(p.key))
}

// parsePHC parses the format of [phc.String]. It accepts no more than four times the memory and time of new hashes.
func parsePHC(text string) (p phc, err error) {
	version, parts := 0, strings.Split(text, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return p, errors.New("the stored hash of the password is not readable: set a new password")
	}
	_, err1 := fmt.Sscanf(parts[2], "v=%d", &version)
	_, err2 := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.threads)
	var err3, err4 error
	p.salt, err3 = base64.RawStdEncoding.DecodeString(parts[4])
	p.key, err4 = base64.RawStdEncoding.DecodeString(parts[5])
	supported := version == argon2.Version && p.time > 0 && p.threads > 0 && p.memory <= 4*argonMemory && p.time <= 4*argonTime && len(p.key) > 0 && len(p.key) <= 2*keySize
	if err := errors.Join(err1, err2, err3, err4); err != nil || !supported {
		return p, errors.New("the stored hash of the password has unsupported parameters: set a new password")
	}
	return p, nil
}
