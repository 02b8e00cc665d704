package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"feedmesh/storage"
)

// maxName is the maximum length of an agent's name, that of host names on Linux.
const maxName = 64

// MinClusterMemory is the minimum of the memory in which items are compared.
const MinClusterMemory Bytes = 16 << 20

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
	if len(c.Name) > maxName {
		addError("name: has %d characters; give at most %d", len(c.Name), maxName)
	}
	errs = append(errs, c.validateRegion()...)
	if c.Data == "" {
		addError("data: is empty; give a folder")
	}
	serves := func(role string) bool { return role == "api" || role == "all" }
	if len(c.Roles) == 0 || slices.ContainsFunc(c.Roles, serves) { // other roles do not listen on this address
		errs = append(errs, validateAddress("listen", c.Listen, "127.0.0.1:8080", c.Token)...)
	}
	errs = slices.Concat(errs, c.validateClients(), c.OIDC.validate())
	if c.Health != "" {
		errs = append(errs, validateAddress("health", c.Health, "127.0.0.1:8081", c.Token+c.HealthToken)...)
	}
	errs = slices.Concat(errs, c.validateTLS(), c.validateNATS(), c.validateCluster(), c.validateEngines())
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
	if c.Cluster.Memory < MinClusterMemory {
		addError("cluster.memory: %v is less than %v", c.Cluster.Memory, MinClusterMemory)
	}
	if c.PublicURL != "" && !isBaseURL(c.PublicURL) {
		addError("public-url: %q is not a base URL; write https://HOST", c.PublicURL.String())
	}
	errs = slices.Concat(errs, c.validateBackup(), c.Mail.validate(), c.Briefing.validate())
	if c.Trace.To != "" && !isURL(c.Trace.To, "http", "https") {
		addError("trace.to: %q is not a URL; write http://HOST:4318", c.Trace.To.String())
	}
	if !(c.Trace.Share >= 0 && c.Trace.Share <= 1) {
		addError("trace.share: %v is not between 0 and 1", c.Trace.Share)
	}
	return errors.Join(errs...)
}

// validateAddress returns the errors of a listen address, with the token that its clients need.
func validateAddress(name, address, example string, token Secret) []error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return []error{fmt.Errorf("%s: %q is not an address; write HOST:PORT, such as %s", name, address, example)}
	}
	if !isLoopback(host) && token == "" {
		return []error{fmt.Errorf("%s: %s is not a loopback address; set a token, or listen on 127.0.0.1", name, address)}
	}
	return nil
}

// validateRegion returns the errors of the region.
func (c Config) validateRegion() (errs []error) {
	if c.Region == "" {
		return nil
	}
	if err := storage.CheckRegion(c.Region); err != nil {
		errs = append(errs, fmt.Errorf("region: %w", err))
	}
	if !slices.Contains(c.Roles, "crawl") && !slices.Contains(c.Roles, "all") {
		errs = append(errs, errors.New("region: is that of the role crawl, which this agent does not have; remove the setting, or add the role"))
	}
	if len(c.NATS) == 0 && c.Servers.Listen == "" {
		errs = append(errs, errors.New("region: requires other agents, which fetch the feeds of no region; set nats or cluster-listen"))
	}
	return errs
}

// validateTLS returns the errors of the settings for encrypted connections.
func (c Config) validateTLS() (errs []error) {
	t := c.TLS
	if (t.Cert == "") != (t.Key == "") {
		errs = append(errs, errors.New("tls.cert, tls.key: must be set together"))
	}
	if t.ACMEHost == "" {
		return errs
	}
	if t.Cert+t.Key != "" {
		errs = append(errs, errors.New("tls.acme-host: cannot be combined with tls.cert and tls.key: use either"))
	}
	if !strings.Contains(t.ACMEHost, ".") || strings.ContainsAny(t.ACMEHost, ":/* ") || net.ParseIP(t.ACMEHost) != nil {
		errs = append(errs, fmt.Errorf("tls.acme-host: %q is not a public host name; write feeds.example.org", t.ACMEHost))
	}
	if !isURL(t.ACMEDirectory, "https") {
		errs = append(errs, fmt.Errorf("tls.acme-directory: %q is not a URL; write https://HOST/directory", t.ACMEDirectory.String()))
	}
	return errs
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
	if len(c.TrustedProxy) > 0 && c.Token == "" {
		errs = append(errs, errors.New("trusted-proxy: requires a token: clients behind a proxy are not on this machine; set token"))
	}
	if c.PersonHeader != "" && len(c.TrustedProxy) == 0 {
		errs = append(errs, errors.New("person-header: requires trusted-proxy: only a trusted proxy may name the person; set trusted-proxy"))
	}
	if strings.ContainsFunc(c.PersonHeader, func(r rune) bool {
		return !strings.ContainsRune("-", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		errs = append(errs, fmt.Errorf("person-header: %q is not the name of a header; write it as Remote-User", c.PersonHeader))
	}
	for _, network := range c.TrustedProxy {
		if network.Bits() == 0 {
			errs = append(errs, fmt.Errorf("trusted-proxy: %v contains every address, so that clients could choose theirs; name the network of the proxy", network))
		}
	}
	if c.RequestsPerClient < 0 || c.RequestsPerClient > 100_000 {
		errs = append(errs, fmt.Errorf("requests-per-client: %d is not between 0 and 100000", c.RequestsPerClient))
	}
	return errs
}

// validate returns the errors of the settings of the OpenID provider.
func (o OIDC) validate() (errs []error) {
	if (o.Issuer == "") != (o.ClientID == "") {
		errs = append(errs, errors.New("oidc.issuer, oidc.client-id: must be set together"))
	}
	if o.Issuer == "" {
		if o.ClientSecret != "" || o.PersonRole() != "" {
			errs = append(errs, errors.New("oidc.client-secret, oidc.role: require oidc.issuer"))
		}
		return errs
	}
	u, err := url.Parse(string(o.Issuer))
	if err != nil || !isURL(o.Issuer, "https", "http") || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme == "http" && !isLoopback(u.Hostname()) {
		errs = append(errs, fmt.Errorf("oidc.issuer: %q is not the URL of a provider; write https://HOST, without a query", o.Issuer.String()))
	}
	return errs
}

// validateBackup returns the errors of the settings of scheduled backups.
func (c Config) validateBackup() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	b := c.Backup
	if u, err := url.Parse(b.To); b.Remote() && (err != nil || u.Host == "" || u.User != nil || u.RawQuery != "") {
		addError("backup.to: is not the address of a bucket; write s3://BUCKET or s3://BUCKET/PREFIX")
	}
	if b.Every < time.Minute {
		addError("backup.every: %v is less than 1m", b.Every)
	}
	if b.Keep < 1 {
		addError("backup.keep: %d is less than 1", b.Keep)
	}
	if !b.Remote() && (b.S3Endpoint != "" || b.S3Key != "" || b.S3Secret != "") {
		addError("backup.to: is no bucket, but backup.s3- settings are set; write s3://BUCKET, or remove them")
	}
	if b.S3Endpoint != "" && !isBaseURL(b.S3Endpoint) {
		addError("backup.s3-endpoint: %q is not a base URL; write https://HOST", b.S3Endpoint.String())
	}
	if (b.S3Key == "") != (b.S3Secret == "") {
		addError("backup.s3-key, backup.s3-secret: must be set together")
	}
	return errs
}

// validate returns the errors of the settings of the SMTP server.
func (m Mail) validate() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if (m.Server == "") != (m.From == "") {
		addError("mail.server, mail.from: must be set together")
	}
	if (m.User == "") != (m.Password == "") {
		addError("mail.user, mail.password: must be set together")
	}
	if m.Server == "" {
		if m.User != "" {
			addError("mail.user, mail.password: require mail.server")
		}
		return errs
	}
	host, port, err := net.SplitHostPort(m.Server)
	if number, _ := strconv.ParseUint(port, 10, 16); err != nil || host == "" || number == 0 {
		addError("mail.server: %q is not an address; write HOST:PORT, such as smtp.example.org:587", m.Server)
	}
	if _, err := mail.ParseAddress(m.From); err != nil && m.From != "" {
		addError("mail.from: %q is not one mail address; write feeds@example.org or feedmesh <feeds@example.org>", m.From)
	}
	if m.TLS == "none" && m.Password != "" && !isLoopback(host) {
		addError("mail.tls: none would send the password to %s without encryption; write starttls or implicit", host)
	}
	return errs
}

// validate returns the errors of the settings of briefings.
func (b Briefing) validate() (errs []error) {
	addError := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if b.Daily < 1 || b.Daily > 100_000 {
		addError("briefing.daily: %d is not between 1 and 100000", b.Daily)
	}
	if (b.URL == "") != (b.Model == "") {
		addError("briefing.url, briefing.model: must be set together")
	}
	if b.URL == "" {
		if b.Key != "" {
			addError("briefing.key: requires briefing.url")
		}
		return errs
	}
	u, err := url.Parse(string(b.URL))
	if err != nil || !isBaseURL(b.URL) {
		addError("briefing.url: %q is not a base URL; write https://HOST/v1, without user and query, and the key as briefing.key", b.URL.String())
	} else if u.Scheme == "http" && b.Key != "" && !isLoopback(u.Hostname()) {
		addError("briefing.url: http would send the key to %s without encryption; write https, or remove briefing.key", u.Hostname())
	}
	return errs
}
