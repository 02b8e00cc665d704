package postgres

import (
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// defaultPoolSize is the default size of an agent's connection pool: ten agents fit into a server's default of a
// hundred connections.
const defaultPoolSize = 8

// sessionDefaults are the session settings that the url may override.
var sessionDefaults = map[string]string{
	"application_name": "feedmesh",
	// In milliseconds. An agent that hangs in a transaction loses it before others time out waiting for its
	// row locks.
	"idle_in_transaction_session_timeout": "10000",
	"lock_timeout":                        "20000",
	"statement_timeout":                   "30000",
	// In seconds. The failure of an agent's machine is detected in half a minute.
	"tcp_keepalives_idle":     "15",
	"tcp_keepalives_interval": "5",
	"tcp_keepalives_count":    "3",
	// A cached plan made for a small table would read all of it when it is large.
	"plan_cache_mode": "force_custom_plan",
	// Statements after a row lock must read the current row.
	"default_transaction_isolation": "read committed",
}

func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parse error may contain the password.
		return nil, errors.New("the store's address is not a PostgreSQL URL: use postgres://USER:PASSWORD@HOST/DATABASE, " +
			"with %XX for special characters in the password")
	}
	for name, value := range sessionDefaults {
		if _, set := config.ConnConfig.RuntimeParams[name]; !set {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if !strings.Contains(url, "pool_max_conns=") {
		config.MaxConns = defaultPoolSize
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	config.PingTimeout = 5 * time.Second
	config.MaxConnIdleTime = 5 * time.Minute
	config.MaxConnLifetimeJitter = 5 * time.Minute
	return config, nil
}
