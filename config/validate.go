package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Validate returns all errors of the settings, joined, each in the form "crawl.timeout: -1s is not positive";
// or nil.
func (c Config) Validate() error {
	var errs []error
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }

	if len(c.Roles) == 0 {
		addError("roles: is empty; give at least one, or all")
	}
	if len(c.Roles) > 1 && slices.Contains(c.Roles, "all") {
		addError(`roles: "all" cannot be combined with other roles`)
	}
	if c.Data == "" {
		addError("data: is empty; give a folder")
	}
	serves := func(role string) bool { return role == "api" || role == "all" }
	if len(c.Roles) == 0 || slices.ContainsFunc(c.Roles, serves) { // other roles do not listen on this address
		errs = append(errs, c.validateAddress("listen", c.Listen, "127.0.0.1:8080")...)
	}
	errs = append(errs, c.validateClients()...)
	if c.Health != "" {
		errs = append(errs, c.validateAddress("health", c.Health, "127.0.0.1:8081")...)
	}
	errs = slices.Concat(errs, c.validateNATS(), c.validateCluster(), c.validateEngines())
	if c.Simulate < 0 || c.Simulate > 62_500 {
		addError("simulate: %d is not between 0 and 62500 feeds", c.Simulate)
	}
	if c.Simulate > 0 && (!slices.Equal(c.Roles, []string{"all"}) || len(c.NATS) > 0) {
		addError("simulate: requires a single node; remove the settings roles and nats")
	}
	errs = append(errs, c.validateSchedule()...)
	if c.Crawl.Timeout <= 0 {
		addError("crawl.timeout: %v is not positive", c.Crawl.Timeout)
	} else if c.Crawl.Timeout > 5*time.Minute {
		addError("crawl.timeout: %v exceeds the maximum of 5m", c.Crawl.Timeout)
	}
	if c.Crawl.MaxBody < 64<<10 || c.Crawl.MaxBody > 64<<20 {
		addError("crawl.max-body: %v is not between 64KB and 64MB", c.Crawl.MaxBody)
	}
	if c.Crawl.Parallel < 1 || c.Crawl.Parallel > 10_000 {
		addError("crawl.parallel: %d is not between 1 and 10000", c.Crawl.Parallel)
	}
	if c.Cluster.Window < time.Hour {
		addError("cluster.window: %v is less than 1h", c.Cluster.Window)
	}
	if c.WebSubURL != "" && !isBaseURL(c.WebSubURL) {
		addError("websub-url: %q is not a base URL; write https://HOST", c.WebSubURL.String())
	}
	if c.Trace.To != "" && !isURL(c.Trace.To, "http", "https") {
		addError("trace.to: %q is not a URL; write http://HOST:4318", c.Trace.To.String())
	}
	if !(c.Trace.Share >= 0 && c.Trace.Share <= 1) {
		addError("trace.share: %v is not between 0 and 1", c.Trace.Share)
	}
	return errors.Join(errs...)
}

// validateAddress returns the errors of a listen address.
func (c Config) validateAddress(name, address, example string) []error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return []error{fmt.Errorf("%s: %q is not an address; write HOST:PORT, such as %s", name, address, example)}
	}
	if !isLoopback(host) && c.Token == "" {
		return []error{fmt.Errorf("%s: %s is not a loopback address; set a token, or listen on 127.0.0.1", name, address)}
	}
	return nil
}

// validateClients returns the errors of the settings for API clients.
func (c Config) validateClients() (errs []error) {
	for _, origin := range c.CORS {
		if origin != "*" && !isOrigin(origin) {
			errs = append(errs, fmt.Errorf("cors: %q is not an origin; write https://HOST, without a path, or *", origin))
		}
	}
	if c.Unique < 0 || c.Unique > 100 {
		errs = append(errs, fmt.Errorf("unique: %d is no percentage", c.Unique))
	}
	if c.RequestsPerClient < 0 || c.RequestsPerClient > 100_000 {
		errs = append(errs, fmt.Errorf("requests-per-client: %d is not between 0 and 100000", c.RequestsPerClient))
	}
	return errs
}
