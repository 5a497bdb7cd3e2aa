// Package docs serves the interface's own description: the merged OpenAPI document, and a page to read it in. All of it
// is in the binary: nothing is fetched from anywhere.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/swaggest/swgui/v5/static"
)

//go:generate go run ../../tools/openapi -base base.yaml -services ../../services -out openapi.json

// OpenAPI is the document of all public operations, merged from those of the services by tools/openapi.
//
//go:embed openapi.json
var OpenAPI []byte

//go:embed page
var page embed.FS

// Swagger UI sets styles from script, and draws its icons from data: URLs. No script but our own files runs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one that is served: kept compressed, as whoever takes it so gets it. The others, who are few, wait for it to be
// unpacked.
type file struct {
	contentType string
	etag        string
	packed      []byte
	plain       func() ([]byte, error)
}

// Mount adds /openapi.json and /docs to an app.
func Mount(app fiber.Router) error {
	document, err := pack("openapi.json", OpenAPI)
	if err != nil {
		return err
	}
	app.Get("/openapi.json", document.serve)
	files, err := reference()
	if err != nil {
		return err
	}
	app.Get("/docs", files["index.html"].serve)
	for name, f := range files {
		app.Get("/docs/"+name, f.serve)
	}
	app.Get("/docs/", func(c *fiber.Ctx) error { return c.Redirect("/docs", fiber.StatusPermanentRedirect) })
	return nil
}

// reference is the page and what it loads: ours, and Swagger UI's.
func reference() (map[string]*file, error) {
	files := map[string]*file{}
	for _, name := range []string{"swagger-ui.css.gz", "swagger-ui-bundle.js.gz", "favicon-32x32.png"} {
		content, err := static.FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("swagger ui: %w", err)
		}
		if plain, zipped := strings.CutSuffix(name, ".gz"); zipped {
			files[plain] = newFile(plain, content)
		} else if files[name], err = pack(name, content); err != nil {
			return nil, err
		}
	}
	return files, fs.WalkDir(page, "page", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := page.ReadFile(at)
		if err != nil {
			return err
		}
		files[d.Name()], err = pack(d.Name(), content)
		return err
	})
}

// pack compresses a file.
func pack(name string, content []byte) (*file, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return newFile(name, packed.Bytes()), nil
}

func newFile(name string, packed []byte) *file {
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".png": "image/png", ".json": fiber.MIMEApplicationJSON,
	}
	sum := sha256.Sum256(packed)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	return &file{contentType: types[path.Ext(name)], etag: etag, packed: packed, plain: sync.OnceValues(func() ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	})}
}

func (f *file) serve(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, f.contentType)
	c.Set(fiber.HeaderETag, f.etag)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if c.Get(fiber.HeaderIfNoneMatch) == f.etag {
		return c.SendStatus(fiber.StatusNotModified)
	}
	if c.Request().Header.HasAcceptEncoding("gzip") {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		c.Response().SetBodyRaw(f.packed)
		return nil
	}
	plain, err := f.plain()
	c.Response().SetBodyRaw(plain)
	return err
}
