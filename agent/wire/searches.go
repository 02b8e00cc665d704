package wire

import (
	"feedmesh/agent/access"
	"feedmesh/storage"
)

// SavedSearches are the searches that are saved, ordered by name.
type SavedSearches struct {
	Searches []storage.SavedSearch `json:"searches"`
}

// A SearchSetting is a search to save.
type SearchSetting struct {
	Title string `json:"title,omitempty" maxLength:"200" doc:"Title; by default its name."`
	Query string `json:"query" maxLength:"4096" doc:"Query string of the search page, such as q=go+-rust&category=software."`
}

// A SavedSearchName is a request that names a saved search.
type SavedSearchName struct {
	Name string `path:"name" maxLength:"64" doc:"Name of a saved search."`
}

// A SaveSearchRequest adds or changes a saved search.
type SaveSearchRequest struct {
	Name string `path:"name" maxLength:"64" pattern:"^[a-z0-9][a-z0-9-]*$" patternDescription:"lower-case letters, digits and hyphens" doc:"Lower-case letters, digits and hyphens."`
	Body SearchSetting
}

// The operations on saved searches.
var (
	ListSearches = Operation[None, SavedSearches]{ID: "list-searches", Method: "GET", Path: "/api/searches", Tag: "searches", Scope: access.Read,
		Summary: "All saved searches, ordered by name", Errors: []int{503}}
	GetSearch = Operation[SavedSearchName, storage.SavedSearch]{ID: "get-search", Method: "GET", Path: "/api/searches/{name}", Tag: "searches", Scope: access.Read,
		Summary: "One saved search", Errors: []int{404, 503}}
	SaveSearch = Operation[SaveSearchRequest, storage.SavedSearch]{ID: "save-search", Method: "PUT", Path: "/api/searches/{name}", Tag: "searches", Scope: access.Write,
		Summary: "Save a search, or change it", Errors: []int{400, 409, 422, 503}}
	RemoveSearch = Operation[SavedSearchName, None]{ID: "remove-search", Method: "DELETE", Path: "/api/searches/{name}", Tag: "searches", Scope: access.Write,
		Summary: "Remove a saved search", Errors: []int{404, 503}}
)
