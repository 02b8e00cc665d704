package mesh

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// cordons are the agents that an operator took out of work. An agent reads its own cordon before each heartbeat.
type cordons struct {
	*client
	competition *competition
	unread      time.Time // when the last read failed
}

// cordonRetry is the interval of reads of a cordon that failed: one that NATS servers deny takes some seconds.
const cordonRetry = 5 * time.Minute

// Cordon cordons the agents of a name, or changes their cordon.
func (c *cordons) Cordon(ctx context.Context, cordon subjects.Cordon) error {
	kv, err := c.bucket(ctx, subjects.CordonBucket)
	if err != nil {
		return err
	}
	data, err := json.Marshal(cordon)
	if err == nil {
		_, err = kv.Put(perRequestTimeout(ctx), subjects.CordonKey(cordon.Agent), data)
	}
	if err != nil {
		return fmt.Errorf("cordon agent %s: %w", cordon.Agent, err)
	}
	return nil
}

// Uncordon removes the cordon of a name, if there is one.
func (c *cordons) Uncordon(ctx context.Context, name string) error {
	kv, err := c.bucket(ctx, subjects.CordonBucket)
	if err == nil {
		err = kv.Purge(perRequestTimeout(ctx), subjects.CordonKey(name))
	}
	if err != nil {
		return fmt.Errorf("uncordon agent %s: %w", name, err)
	}
	return nil
}

// Cordons returns all cordons, by name.
func (c *cordons) Cordons(ctx context.Context) ([]subjects.Cordon, error) {
	byKey, err := values[subjects.Cordon]{client: c.client, bucket: subjects.CordonBucket}.all(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]subjects.Cordon, 0, len(byKey))
	for _, one := range byKey {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b subjects.Cordon) int { return cmp.Compare(a.Agent, b.Agent) })
	return list, nil
}

// follow reads the cordon of this agent's name and obeys it. One that can't be read changes nothing: it waits for a repair
// in its bucket, and NATS servers that were set up for an older version deny access.
func (c *cordons) follow(ctx context.Context, name string) {
	if c.alone || time.Since(c.unread) < cordonRetry {
		return // an agent that is alone works in any case: no other could take its work
	}
	var cordon subjects.Cordon
	kv, err := c.bucket(ctx, subjects.CordonBucket)
	if err == nil {
		var entry jetstream.KeyValueEntry
		switch entry, err = kv.Get(perRequestTimeout(ctx), subjects.CordonKey(name)); {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			err = nil
		case err == nil:
			err = json.Unmarshal(entry.Value(), &cordon)
		}
	}
	if err != nil {
		c.log.Debug("cordon not read", "agent", name, "err", err)
		c.unread = time.Now()
		return
	}
	cordoned := cordon.Agent == name
	if c.competition.cordon(cordoned) {
		c.log.Info("cordon of this agent changed", "agent", name, "cordoned", cordoned, "drained", cordon.Drain)
	}
	c.intake.set(!cordoned || !cordon.Drain)
}
