package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

//go:embed asset
var assetFiles embed.FS

// assets are the files that pages load, each under a name that holds a hash of its content: a browser may keep one
// forever, and gets a new one as soon as there is one.
type assets struct {
	named   map[string]string // plain name to the name it is served by
	content map[string][]byte // by the name it is served by
}

func readAssets() (assets, error) {
	a := assets{named: map[string]string{}, content: map[string][]byte{}}
	err := fs.WalkDir(assetFiles, "asset", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(at)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		extension := path.Ext(at)
		name := strings.TrimSuffix(path.Base(at), extension) + "." + hex.EncodeToString(sum[:8]) + extension
		a.named[path.Base(at)], a.content[name] = name, content
		return nil
	})
	return a, err
}

// path is where a page finds a file.
func (a assets) path(name string) string { return "/assets/" + a.named[name] }

func (s *Server) asset(r *http.Request) reply {
	name := r.PathValue("name")
	content, ok := s.assets.content[name]
	if !ok {
		f := fault.New(fault.NotFound, "not_found", "There is no such file.")
		return problem(f)
	}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	answer := raw(http.StatusOK, types[path.Ext(name)], content)
	answer.header = http.Header{"Cache-Control": {"public, max-age=31536000, immutable"}}
	return answer
}
