package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/wire"
)

// apiConfig returns the configuration of huma, with the parts of the OpenAPI description that describe no operation.
func apiConfig(version string) huma.Config {
	cfg := huma.DefaultConfig("feedmesh", version)
	cfg.Info.Description = "Feeds in, searchable items out."
	cfg.Info.License = &huma.License{Name: "Apache License 2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}
	cfg.Servers = []*huma.Server{{URL: "/", Description: "The agent that serves this description."}}
	for _, t := range wire.Tags {
		cfg.Tags = append(cfg.Tags, &huma.Tag{Name: t.Name, Description: t.Description})
	}
	cfg.Components.SecuritySchemes = schemes
	cfg.DocsPath = "" // its pages load scripts from other sites
	cfg.CreateHooks = nil
	cfg.OnAddOperation = []huma.AddOpFunc{describePlainly}
	return cfg
}

// describePlainly corrects schemas that huma generates for an operation: it removes a property of parameters that OpenAPI
// does not define, whose text the error messages already contain, and describes raw bodies as text, not as octets.
func describePlainly(_ *huma.OpenAPI, o *huma.Operation) {
	for _, p := range o.Parameters {
		if p.Schema != nil && p.Schema.PatternDescription != "" { // parameters without it may be shared by operations
			p.Schema.PatternDescription = ""
		}
	}
	if o.RequestBody == nil {
		return
	}
	for _, content := range o.RequestBody.Content {
		if content.Schema.Type == huma.TypeString && content.Schema.Format == "binary" {
			content.Schema.Format = ""
		}
	}
}
