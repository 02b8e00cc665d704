package service

import (
	"context"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/subjects"
)

// Cordons answers requests that take agents out of work.
type Cordons struct{ *core }

// Set cordons the agents of a name, of which one must be in the mesh.
func (c *Cordons) Set(ctx context.Context, in wire.CordonRequest) (subjects.Cordon, error) {
	agents, err := c.Mesh.Agents(ctx)
	if err != nil {
		return subjects.Cordon{}, err
	}
	if c.Mesh.IsAlone() {
		return subjects.Cordon{}, errorf(KindConflict, "this node is alone: no other agent can take its work; stop it instead")
	}
	if !slices.ContainsFunc(agents, func(a subjects.Agent) bool { return a.Name == in.ID }) {
		return subjects.Cordon{}, errorf(KindNotFound, "no agent of the mesh has the name %s; agent status lists them", in.ID)
	}
	cordon := subjects.Cordon{Agent: in.ID, Drain: in.Body.Drain, Since: c.Now().UTC()}
	return cordon, c.Mesh.Cordon(ctx, cordon)
}

// Remove removes the cordon of a name, also if no agent of that name is in the mesh any more.
func (c *Cordons) Remove(ctx context.Context, in wire.ByID) (wire.None, error) {
	cordons, err := c.Mesh.Cordons(ctx)
	if err != nil {
		return wire.None{}, err
	}
	if !slices.ContainsFunc(cordons, func(one subjects.Cordon) bool { return one.Agent == in.ID }) {
		return wire.None{}, errorf(KindNotFound, "no agent of the name %s is cordoned; agent status lists those that are", in.ID)
	}
	return wire.None{}, c.Mesh.Uncordon(ctx, in.ID)
}
