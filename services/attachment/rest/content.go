package rest

import (
	"encoding/hex"
	"net/http"

	"github.com/gofiber/fiber/v2" //nolint:depguard // bytes are streamed, which generated code does not

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// MountContent adds the operations on the bytes of documents, before each of which prepare runs.
func (s *Server) MountContent(to fiber.Router, prepare fiber.Handler) {
	for _, face := range []Face{V2(), V3()} {
		path := face.root + ":patient" + face.kind + "/:document/content"
		to.Put(path, prepare, s.uploadContent(face))
		to.Get(path, prepare, s.downloadContent) // and HEAD
	}
}

// uploadContent stores the bytes and answers the document.
func (s *Server) uploadContent(face Face) fiber.Handler {
	return func(c *fiber.Ctx) error {
		var header []string
		for _, value := range c.Request().Header.PeekAll("Content-Digest") {
			header = append(header, string(value))
		}
		digest, invalid := contentDigest(header)
		up := attachment.Upload{
			Bytes: web.Incoming(c, s.Contents.Limit), Length: int64(c.Request().Header.ContentLength()), Digest: digest, Invalid: invalid,
		}
		if up.Length < -1 {
			up.Length = 0 // what fasthttp says of no body
		}
		d, err := s.Contents.Upload(c.UserContext(), parseID(c.Params("patient")), parseDocumentID(c.Params("document")), up)
		if err != nil {
			return err
		}
		shown, err := face.Show(d)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderETag, contentTag(d))
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(shown)
	}
}

// downloadContent streams the bytes. They are somebody's file, of any type: no browser is to show them as a page of ours.
func (s *Server) downloadContent(c *fiber.Ctx) error {
	d, content, err := s.Contents.Download(c.UserContext(), parseID(c.Params("patient")), parseDocumentID(c.Params("document")))
	if err != nil {
		return err
	}
	header := http.Header{}
	header.Set(fiber.HeaderContentType, d.ContentType)
	header.Set(fiber.HeaderContentDisposition, disposition(d.Filename, d.Title, d.ID))
	header.Set(fiber.HeaderContentSecurityPolicy, "sandbox; default-src 'none'")
	header.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	header.Set(fiber.HeaderCacheControl, "no-store")
	header.Set(fiber.HeaderETag, contentTag(d))
	header.Set("Repr-Digest", reprDigest(d.SHA256))
	return web.Content(c, header, *d.UploadedAt, content)
}

// contentTag is a strong entity tag: equal bytes, equal tag.
func contentTag(d attachment.Document) string { return `"` + hex.EncodeToString(d.SHA256) + `"` }
