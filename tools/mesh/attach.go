package mesh

import (
	"errors"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/mesh/state"
)

// Attach is a mesh that somebody else runs, such as one in containers: a folder with its demo.json, and its mail in mail/
// where that is known. There is nothing to stop, and no address, database or secret is known but what demo.json says.
func Attach(folder string) (*Mesh, error) {
	dir, err := state.Open(folder)
	if err != nil {
		return nil, err
	}
	m := &Mesh{dir: dir, addresses: map[string]string{}, stop: dir.Close}
	found, err := dir.Read(demoFile, &m.demo)
	if err == nil && (!found || len(m.demo.Tenants) == 0) {
		err = errors.New("no demo.json in " + folder)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	m.options.Environment = m.demo.Environment
	m.addresses[Gateway] = strings.TrimPrefix(m.demo.Gateway, "http://")
	return m, nil
}
