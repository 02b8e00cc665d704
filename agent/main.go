// Agent is the feedmesh program. `agent run`, or just `agent`, runs a node that plays roles in the mesh; all
// other commands are clients of a running node's API.
package main

import "feedmesh/agent/command"

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	command.Main(version)
}
