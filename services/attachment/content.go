package attachment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Blobs keep bytes under names.
type Blobs interface {
	// Write keeps what content gives until io.EOF; after any other error of content's, which it wraps, it keeps nothing.
	Write(ctx context.Context, name string, content io.Reader) (keyID string, err error)
	// Read gives what was written, fetching it as it is read.
	Read(ctx context.Context, name, keyID string, size int64) (io.ReadSeekCloser, error)
	// Delete deletes; nothing there is no error.
	Delete(ctx context.Context, name string) error
}

// ContentStore keeps which blob is the content of which document. A blob is written between two transactions: Intend
// before, Complete after. One that is never completed is found by its intent, and collected.
type ContentStore interface {
	// Find gives the document that is to get content. The entry is kept, as a failure, only when there is none.
	Find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*Document, error)
	// Open gives the document whose content is to be read; without a document or content the entry is a failure.
	Open(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*Document, error)
	// Intend keeps for an hour that a blob may be written.
	Intend(ctx context.Context, blob string) error
	// Complete makes a blob the content of a document that has none, and gives the document with it. It is nil, and
	// nothing happened, when the document has content or is gone, when its declared size is another, or when the blob
	// is being collected.
	Complete(ctx context.Context, tenant string, patientID int64, id string, c Content, e audit.Entry) (*Document, error)
	// Forget takes an intent back, of a blob that is no more.
	Forget(ctx context.Context, blob string) error
	// Keep keeps the entry of what changed nothing, or was refused.
	Keep(ctx context.Context, e audit.Entry) error
}

// Contents is the verbs on the bytes of documents. It is safe for concurrent use.
type Contents struct {
	Service *Service // whose clock and ids it uses
	Store   ContentStore
	Blobs   Blobs
	Limit   int64 // bytes
}

// uploadLimit is the longest that an upload may take whatever its request's budget: it ends well before its intent does,
// so that no blob is written after it was collected.
const uploadLimit = 30 * time.Minute

// Upload is the bytes that a document is to get.
type Upload struct {
	Bytes   io.Reader // fails with a fault
	Length  int64     // as declared; -1: it was not
	Digest  []byte    // the SHA-256 that the caller expects; nil: none
	Invalid error     // what is wrong with what was declared; nil: nothing
}

// Upload gives a document its content, once. The same bytes again change nothing.
func (s *Contents) Upload(ctx context.Context, patientID int64, id string, up Upload) (Document, error) {
	by, err := principal.Require(ctx, principal.DocumentWrite)
	if err != nil {
		return Document{}, err
	}
	if up.Length > s.Limit {
		return Document{}, fault.New(fault.TooLarge, "content_too_large", "The content is over the limit.")
	}
	if up.Invalid != nil {
		return Document{}, up.Invalid
	}
	e := s.Service.entry(ctx, auditUpload, patientID)
	if err := s.Service.present(ctx, e); err != nil {
		return Document{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, uploadLimit)
	defer cancel()
	d, err := s.find(ctx, by.TenantID, patientID, id, e)
	if err != nil {
		return Document{}, err
	}
	if d.HasContent() {
		err = s.compare(ctx, d, up, e)
	} else {
		d, err = s.receive(ctx, by.TenantID, d, up, e)
	}
	if err != nil {
		return Document{}, s.refused(ctx, e, err)
	}
	return d, nil
}

func (s *Contents) find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (Document, error) {
	d, err := s.Store.Find(ctx, tenant, patientID, id, e)
	if err != nil {
		return Document{}, err
	}
	if d == nil {
		return Document{}, missing()
	}
	return *d, nil
}

// refused keeps that an upload to a document that is there was refused, and gives the refusal. What went wrong on our
// side is no refusal.
func (s *Contents) refused(ctx context.Context, e audit.Entry, refusal error) error {
	kind := fault.Of(refusal).Kind
	if kind == fault.Internal || kind == fault.Unavailable || kind == fault.NotFound {
		return refusal
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.Service.refused(ctx, e, refusal)
}

// detached outlives a client that has left: what it began is still tidied up.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
}

// receive writes the bytes into a blob of this attempt's own and makes that the document's content. Whoever comes first
// wins; who comes second is compared with it.
func (s *Contents) receive(ctx context.Context, tenant string, d Document, up Upload, e audit.Entry) (Document, error) {
	if d.DeclaredSize != nil && up.Length >= 0 && up.Length != *d.DeclaredSize {
		return d, sizeMismatch()
	}
	name := tenant + "/" + d.ID + "/" + uuid.Must(s.Service.NewID()).String()
	if err := s.Store.Intend(ctx, name); err != nil {
		return d, err
	}
	in := newArriving(up, d.DeclaredSize)
	keyID, err := s.Blobs.Write(ctx, name, in)
	if err != nil && in.failure != nil {
		s.discard(ctx, name)
		return d, in.failure
	}
	if err != nil { // it may be there all the same, or come to be: its intent stands, and it is collected
		return d, err
	}
	now := s.Service.now()
	content := Content{BlobKey: &name, Size: &in.size, SHA256: in.hash.Sum(nil), EncryptionKeyID: keyID, UploadedAt: &now}
	complete, err := s.Store.Complete(ctx, tenant, d.PatientID, d.ID, content, e)
	if err != nil { // nobody knows whether it is the document's content: if it is not, it is collected
		return d, err
	}
	if complete == nil {
		s.discard(ctx, name)
		return s.overtaken(ctx, tenant, d, content, e)
	}
	return *complete, nil
}

// discard deletes a blob that has become no content, and its intent. Where it fails, the collector does it.
func (s *Contents) discard(ctx context.Context, name string) {
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := s.Blobs.Delete(ctx, name); err == nil {
		_ = s.Store.Forget(ctx, name) // the collector will
	}
}

// overtaken decides an upload that was received whole and not taken: another one was, or the document is not what it was
// any more.
func (s *Contents) overtaken(ctx context.Context, tenant string, before Document, c Content, e audit.Entry) (Document, error) {
	d, err := s.find(ctx, tenant, before.PatientID, before.ID, e)
	switch {
	case err != nil:
		return d, err
	case d.HasContent() && bytes.Equal(d.SHA256, c.SHA256):
		return d, s.Store.Keep(ctx, e)
	case d.HasContent():
		return d, contentExists()
	case d.DeclaredSize != nil && *d.DeclaredSize != *c.Size:
		return d, sizeMismatch()
	}
	return d, fault.Away(nil, "The upload took too long; try again.") // its blob was collected
}

// compare reads bytes that come again and stores nothing. What is known to differ is not read.
func (s *Contents) compare(ctx context.Context, d Document, up Upload, e audit.Entry) error {
	if up.Length >= 0 && up.Length != *d.Size || up.Digest != nil && !bytes.Equal(up.Digest, d.SHA256) {
		return contentExists()
	}
	in := newArriving(up, nil)
	if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{in}, make([]byte, 64<<10)); err != nil {
		return err
	}
	if !bytes.Equal(in.hash.Sum(nil), d.SHA256) {
		return contentExists()
	}
	return s.Store.Keep(ctx, e)
}

func sizeMismatch() error {
	return fault.New(fault.Invalid, "size_mismatch", "The content is not of the size that the document declares.")
}

func contentExists() error {
	return fault.New(fault.Conflict, "content_exists", "The document has other content already.")
}

// arriving counts and hashes bytes on their way, and ends with io.EOF only if they are what was announced: so what does
// not match is never stored, not even for a moment.
type arriving struct {
	from    Upload
	size    int64
	want    *int64 // nil: any
	hash    hash.Hash
	failure error
}

func newArriving(up Upload, size *int64) *arriving {
	return &arriving{from: up, want: size, hash: sha256.New()}
}

func (a *arriving) Read(p []byte) (int, error) {
	if a.failure != nil {
		return 0, a.failure
	}
	n, err := a.from.Bytes.Read(p)
	a.size += int64(n)
	a.hash.Write(p[:n])
	switch {
	case errors.Is(err, io.EOF):
		a.failure = a.mismatch()
	case err != nil:
		a.failure = err
	case a.want != nil && a.size > *a.want:
		a.failure = sizeMismatch()
	}
	if a.failure != nil {
		return n, a.failure
	}
	return n, err
}

// mismatch is what is wrong with all of the bytes.
func (a *arriving) mismatch() error {
	if a.from.Digest != nil && !bytes.Equal(a.from.Digest, a.hash.Sum(nil)) {
		return fault.New(fault.Invalid, "digest_mismatch", "The content is not what Content-Digest says.")
	}
	if a.want != nil && a.size != *a.want {
		return sizeMismatch()
	}
	return nil
}

// Download gives a document with its bytes, which are fetched as they are read, for as long as ctx holds.
func (s *Contents) Download(ctx context.Context, patientID int64, id string) (Document, io.ReadSeekCloser, error) {
	by, err := principal.Require(ctx, principal.DocumentRead)
	if err != nil {
		return Document{}, nil, err
	}
	e := s.Service.entry(ctx, auditDownload, patientID)
	if err := s.Service.present(ctx, e); err != nil {
		return Document{}, nil, err
	}
	d, err := s.Store.Open(ctx, by.TenantID, patientID, id, e)
	switch {
	case err != nil:
		return Document{}, nil, err
	case d == nil:
		return Document{}, nil, missing()
	case !d.HasContent():
		return Document{}, nil, fault.New(fault.NotFound, "no_content", "The document has no content.")
	}
	content, err := s.Blobs.Read(ctx, *d.BlobKey, d.EncryptionKeyID, *d.Size)
	return *d, content, err
}
