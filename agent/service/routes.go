package service

import "feedmesh/agent/wire"

// routes returns all operations with the methods that serve them.
func (s *Server) routes() []route {
	return []route{
		handle(wire.ListProxies, s.Proxies.List),
		handle(wire.SetProxy, s.Proxies.Set),
		handle(wire.RemoveProxy, s.Proxies.Remove),

		handle(wire.ListTokens, s.Tokens.List),
		handle(wire.AddToken, s.Tokens.Add),
		handle(wire.RemoveToken, s.Tokens.Remove),
	}
}
