package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const allProxies = `SELECT id, url, hosts, always, added FROM proxies ORDER BY id`

// Proxies implements [storage.Proxies].
func (s *Store) Proxies(ctx context.Context) ([]storage.Proxy, error) {
	return read(ctx, s, "list proxies", func(row pgx.CollectableRow) (p storage.Proxy, err error) {
		err = row.Scan(&p.ID, &p.URL, &p.Hosts, &p.Always, nullTime{&p.Added})
		return p, err
	}, allProxies)
}

const putProxy = `
	INSERT INTO proxies (id, url, hosts, always, added) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (id) DO UPDATE SET
		url = excluded.url, hosts = excluded.hosts, always = excluded.always, added = excluded.added`

// PutProxy implements [storage.Proxies].
func (s *Store) PutProxy(ctx context.Context, p storage.Proxy) error {
	return s.do(ctx, "put proxy", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, putProxy, clean(p.ID, p.URL, listOrNull(p.Hosts), p.Always, p.Added)...)
		return err
	})
}

const removeProxy = `DELETE FROM proxies WHERE id = $1 RETURNING id`

// RemoveProxy implements [storage.Proxies].
func (s *Store) RemoveProxy(ctx context.Context, id string) error {
	return s.do(ctx, "remove proxy", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], removeProxy, id)
		return err
	})
}
