package access

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limits of wrong secrets.
const (
	WrongTokens = 10  // accepted from one address a minute
	wrongOfAll  = 100 // accepted from all addresses a minute
)

// Delays of checks while a limit is exceeded.
const (
	guessDelay    = 250 * time.Millisecond // for each check of the same address in progress
	maxGuessDelay = 10 * time.Second
)

// A GuessError reports one more wrong secret of an address that sent too many.
type GuessError struct{ Wait time.Duration }

func (e *GuessError) Error() string {
	return fmt.Sprintf("too many wrong tokens or passwords came from this address: wait %v", e.Wait)
}

// guesses counts wrong secrets by address. While an address, or all together, exceed their limit, checks of secrets
// that can be guessed are delayed, right ones too: the delay does not depend on the secret, and no client is locked out.
type guesses struct {
	byAddress, all *Limiter

	mu      sync.Mutex
	delayed map[string]int // checks in progress by address
}

func newGuesses() *guesses {
	return &guesses{
		byAddress: NewLimiter(WrongTokens/60., WrongTokens), all: NewLimiter(wrongOfAll/60., wrongOfAll), delayed: map[string]int{},
	}
}

// delay waits before the check of a secret that can be guessed; it returns the error of ctx if that ends first.
func (g *guesses) delay(ctx context.Context, address string) error {
	if g.byAddress.Peek(address).OK && g.all.Peek("").OK {
		return nil
	}
	timer := time.NewTimer(g.enter(address))
	defer timer.Stop()
	defer g.leave(address)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *guesses) enter(address string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.delayed[address]++
	return min(time.Duration(g.delayed[address])*guessDelay, maxGuessDelay)
}

func (g *guesses) leave(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.delayed[address]--; g.delayed[address] == 0 {
		delete(g.delayed, address)
	}
}

// wrong counts a wrong secret. It returns [ErrInvalidToken], or a [*GuessError] over the limit of the address;
// last reports that the limit is reached now.
func (g *guesses) wrong(address string) (last bool, err error) {
	g.all.Take("")
	q := g.byAddress.Take(address)
	if !q.OK {
		return false, &GuessError{q.Wait}
	}
	return q.Left == 0, ErrInvalidToken
}
