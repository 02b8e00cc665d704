package engines

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// An OIDCProvider is an OpenID provider with the client feedmesh, whose logins oidc-provider.mjs describes. It may be
// stopped and restarted.
type OIDCProvider struct {
	Process
	Issuer string // URL
}

// Client of an [OIDCProvider].
const (
	OIDCClient = "feedmesh"
	OIDCSecret = "a secret of the client"
)

// StartOIDCProvider starts a provider that redirects to an address, and returns when it is ready. The error is
// [os.ErrNotExist] if it is not installed.
func StartOIDCProvider(redirect string) (*OIDCProvider, error) {
	library, err := installed("oidc-provider/package.json")
	if err != nil {
		return nil, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(filepath.Dir(filepath.Dir(library)))
	p := &OIDCProvider{Issuer: fmt.Sprintf("http://127.0.0.1:%d", port)}
	p.Name, p.Path, p.Dir = "oidc-provider", node, folder
	p.Args = []string{filepath.Join(folder, "oidc-provider.mjs"), strconv.Itoa(port), redirect}
	if err := p.Start(); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// Start starts or restarts the provider, and returns when it is ready.
func (p *OIDCProvider) Start() error {
	if err := p.Process.Start(); err != nil {
		return err
	}
	return p.Ready(time.Minute, func() error {
		response, err := http.Get(p.Issuer + "/.well-known/openid-configuration")
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", response.Status)
		}
		return nil
	})
}
