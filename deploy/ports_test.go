package deploy_test

import (
	"net"
	"strconv"
	"testing"

	"feedmesh/tests/engines"
)

func freePort(t *testing.T) int {
	t.Helper()
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func hostPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
