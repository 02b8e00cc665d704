package sqlite

import (
	"context"

	"feedmesh/storage"
)

const allProxies = `SELECT id, url, hosts, always, added FROM proxies ORDER BY id`

// Proxies implements [storage.Proxies].
func (s *Store) Proxies(ctx context.Context) ([]storage.Proxy, error) {
	all, err := collect(ctx, s.read.proxies, func(row scanner) (p storage.Proxy, err error) {
		err = row.Scan(&p.ID, &p.URL, fromJSON(&p.Hosts), &p.Always, nullTime{&p.Added})
		return p, err
	})
	return all, s.wrap(ctx, "list proxies", err)
}

const putProxy = `INSERT OR REPLACE INTO proxies (id, url, hosts, always, added) VALUES (?, ?, ?, ?, ?)`

// PutProxy implements [storage.Proxies].
func (s *Store) PutProxy(ctx context.Context, p storage.Proxy) error {
	return s.transaction(ctx, "put proxy", func(w *writer) error {
		_, err := w.putProxy.ExecContext(ctx, p.ID, p.URL, listOrNull(p.Hosts), p.Always, micros(p.Added))
		return err
	})
}

const removeProxy = `DELETE FROM proxies WHERE id = ? RETURNING id`

// RemoveProxy implements [storage.Proxies].
func (s *Store) RemoveProxy(ctx context.Context, id string) error {
	return s.transaction(ctx, "remove proxy", func(w *writer) error {
		_, err := scanText(w.removeProxy.QueryRowContext(ctx, id))
		return err
	})
}
