package tests

import (
	"sync/atomic"
	"time"
)

// skewed is a clock that can be advanced.
type skewed struct{ ahead atomic.Int64 }

func (c *skewed) now() time.Time      { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *skewed) add(d time.Duration) { c.ahead.Add(int64(d)) }
