package deploy_test

import (
	"context"
	"sync/atomic"
	"testing"

	"feedmesh/storage"
)

// The API activates rules; the agents that apply them receive the change.
func TestRules_ActivationReachesAgents(t *testing.T) {
	c := startCluster(t)
	c.join(t, "schedule") // declares the streams
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	heard := map[string]*atomic.Int64{"prepare": {}, "classify": {}, "all": {}}
	for user, version := range heard {
		m := c.join(t, user)
		go m.WatchRules(ctx, "prepare", func(v int64, _ []byte) { version.Store(v) })
	}
	for i, user := range []string{"api", "all"} {
		set := storage.RuleSet{Version: int64(i + 1), Text: []byte("rules")}
		err := c.join(t, user).PutRules(ctx, "prepare", func(context.Context) (storage.RuleSet, error) { return set, nil })
		if err != nil {
			t.Fatalf("%s: %v", user, err)
		}
		for who, version := range heard {
			wait(t, who+" hears of what "+user+" put", func() bool { return version.Load() == set.Version })
		}
	}
}
