package api

import "longhaul/api/wire"

// Names returns the names of each operation in both versions, by its name in 1.0.
func (s *Server) Names() map[string][2]string {
	names := map[string][2]string{}
	for _, o := range s.rpc.operations {
		names[o.names[wire.V10]] = [2]string{o.names[wire.V03], o.names[wire.V10]}
	}
	return names
}

// Routes returns a path of plain HTTP for each operation that has one, with its
// verb before it.
func Routes() map[string]string {
	list := map[string]string{}
	for _, r := range routes {
		list[r.method] = r.verb + " " + restPath + "/" + r.path
	}
	return list
}
