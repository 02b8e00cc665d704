package wire

import (
	"feedmesh/agent/access"
	"feedmesh/subjects"
)

// A CordonRequest takes the agents of a name out of work.
type CordonRequest struct {
	ID   string `path:"id" maxLength:"64" doc:"Name of the agents: the setting name, by default the name of their host."`
	Body CordonSetting
}

// A CordonSetting is what is kept from agents.
type CordonSetting struct {
	Drain bool `json:"drain" doc:"They take no tasks either. Without it they get no leases."`
}

// The operations on cordons; the status of the mesh lists them.
var (
	SetCordon = Operation[CordonRequest, subjects.Cordon]{ID: "set-cordon", Method: "PUT", Path: "/api/cordons/{id}", Tag: "mesh", Scope: access.Admin,
		Summary: "Keep leases, or all tasks, from the agents of a name, also after they start again", Errors: []int{404, 409, 503}}
	RemoveCordon = Operation[ByID, None]{ID: "remove-cordon", Method: "DELETE", Path: "/api/cordons/{id}", Tag: "mesh", Scope: access.Admin,
		Summary: "Let the agents of a name work again", Errors: []int{404, 503}}
)
