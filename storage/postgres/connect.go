package postgres

import (
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is how many an agent holds at most, unless its url says otherwise:
// ten agents fit into the hundred that a server allows by default.
const connections = 8

// defaults are the session's settings, where the url has no others.
var defaults = map[string]string{
	"application_name": "feedmesh",
	// In milliseconds. An agent that freezes in a transaction loses it before
	// those who wait for the rows it holds give up.
	"idle_in_transaction_session_timeout": "10000",
	"lock_timeout":                        "20000",
	"statement_timeout":                   "30000",
	// In seconds: an agent whose machine is gone is found out in half a minute.
	"tcp_keepalives_idle":     "15",
	"tcp_keepalives_interval": "5",
	"tcp_keepalives_count":    "3",
	// A plan made while a table was small would read all of it when it is large.
	"plan_cache_mode": "force_custom_plan",
	// What is read once a row is locked is what it is now.
	"default_transaction_isolation": "read committed",
}

func poolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// Its error may have the password.
		return nil, errors.New("the store's address is no PostgreSQL address: write postgres://USER:PASSWORD@HOST/DATABASE, " +
			"with %XX for signs in the password that have a meaning in addresses")
	}
	for name, value := range defaults {
		if _, set := config.ConnConfig.RuntimeParams[name]; !set {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if !strings.Contains(url, "pool_max_conns=") {
		config.MaxConns = connections
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	config.PingTimeout = 5 * time.Second
	config.MaxConnIdleTime = 5 * time.Minute
	config.MaxConnLifetimeJitter = 5 * time.Minute
	return config, nil
}
