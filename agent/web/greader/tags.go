package greader

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// tags sends the folders, the client's labels of items, and the state starred.
func (s *feedCalls) tags(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	names := map[string]bool{}
	err := storage.ForEachFeed(r.Context(), s.store, func(f storage.Feed) error {
		for _, tag := range f.Tags {
			names[tag] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	type tag struct {
		ID   string `json:"id"`
		Type string `json:"type,omitempty"`
	}
	all := []tag{{ID: statePrefix + starred}}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, tag{labelPrefix + name, "folder"})
	}
	labels, err := s.reading.Labels(r.Context(), wire.None{})
	if err != nil {
		return err
	}
	for _, label := range labels.Labels {
		if !names[label.Name] {
			all = append(all, tag{labelPrefix + label.Name, "tag"})
		}
	}
	return sendJSON(w, map[string]any{"tags": all})
}

// renameTag replaces a folder by another in all its feeds, and a label in all its items.
func (s *feedCalls) renameTag(r *http.Request, p url.Values) error {
	from, err := labelOf(p.Get("s"))
	if err != nil {
		return err
	}
	to, err := labelOf(p.Get("dest"))
	if err != nil {
		return err
	}
	if from == to {
		return nil
	}
	if err := limited(s.reading.RenameLabel(r.Context(), from, to)); err != nil {
		return err
	}
	return s.retag(r.Context(), from, []string{to})
}

// disableTag removes folders, whose feeds stay, and labels of items.
func (s *feedCalls) disableTag(r *http.Request, p url.Values) error {
	for _, id := range p["s"] {
		label, err := labelOf(id)
		if err != nil {
			return err
		}
		if err := s.reading.RenameLabel(r.Context(), label, ""); err != nil {
			return err
		}
		if err := s.retag(r.Context(), label, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *feedCalls) retag(ctx context.Context, from string, to []string) error {
	return storage.ForEachFeed(ctx, s.store, func(f storage.Feed) error {
		if !slices.Contains(f.Tags, from) {
			return nil
		}
		return s.feeds.Retag(ctx, f.ID, to, []string{from})
	})
}
