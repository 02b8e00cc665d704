package memory

import (
	"cmp"
	"context"
	"slices"

	"feedmesh/storage"
)

// Proxies implements [storage.Proxies].
func (s *Store) Proxies(ctx context.Context) ([]storage.Proxy, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []storage.Proxy
	for _, p := range s.proxies {
		all = append(all, copyProxy(p))
	}
	slices.SortFunc(all, func(a, b storage.Proxy) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// PutProxy implements [storage.Proxies].
func (s *Store) PutProxy(ctx context.Context, proxy storage.Proxy) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.proxies[proxy.ID] = copyProxy(proxy)
	return nil
}

// RemoveProxy implements [storage.Proxies].
func (s *Store) RemoveProxy(ctx context.Context, id string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.proxies[id]; !ok {
		return storage.ErrNotFound
	}
	delete(s.proxies, id)
	return nil
}
