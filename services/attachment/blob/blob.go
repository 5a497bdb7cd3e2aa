// Package blob keeps bytes under keys in a bucket that a URL names: a folder (file://), S3 and what speaks like it
// (s3://), Google Cloud Storage (gs://) or Azure (azblob://). It encrypts them when it is given keys. What is being
// written can be read once it is whole, and never before. The package knows no document; the drivers of the clouds are
// imported by the program.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	"gocloud.dev/gcerrors"
)

// Store is a bucket. It is safe for concurrent use.
type Store struct {
	bucket  *gocloud.Bucket
	keys    Keys
	scheme  string
	writing chan struct{} // the writes to a cloud that are under way
}

// The schemes that are treated in a way of their own.
const (
	folder = "file"
	s3     = "s3"
)

const away = "The store of documents cannot be reached just now; try again shortly."

// Open opens the bucket at a URL. A folder is made if it is not there; of a cloud nothing is asked yet.
func Open(ctx context.Context, address string, keys Keys) (*Store, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme == "" {
		return nil, errors.New("BLOB_URL is no URL such as file:///var/lib/blobs or s3://bucket?region=eu-central-1")
	}
	if at.Scheme == folder {
		at.RawQuery = folderOptions(at.Query()).Encode()
	}
	bucket, err := gocloud.OpenBucket(ctx, at.String())
	if err != nil {
		return nil, fmt.Errorf("BLOB_URL: %w", err)
	}
	return &Store{bucket: bucket, keys: keys, scheme: at.Scheme, writing: make(chan struct{}, writesUnderWay)}, nil
}

// folderOptions is how a folder is used, whatever its URL asks for: nothing beside the bytes is written, and what is being
// written lies on the same file system as what it becomes. Only the mode of the folders is the operator's.
func folderOptions(asked url.Values) url.Values {
	mode := asked.Get("dir_file_mode")
	if mode == "" {
		mode = "0700" // files are as readable as the umask lets them be, for whoever gets this far
	}
	return url.Values{"create_dir": {"1"}, "no_tmp_dir": {"1"}, "metadata": {"skip"}, "dir_file_mode": {mode}}
}

// Ready is nil when the bucket is there.
func (s *Store) Ready(ctx context.Context) error {
	if s.scheme == folder { // a listing skips what it cannot read, the folder itself too
		var info fs.FileInfo
		if !s.bucket.As(&info) || !info.IsDir() {
			return errors.New("the folder of BLOB_URL is not there")
		}
		return nil
	}
	there, err := s.bucket.IsAccessible(ctx)
	if err == nil && !there {
		err = errors.New("the bucket of BLOB_URL is not there")
	}
	return err
}

// Delete deletes what is under a key, and what a writer that was killed left of it. Nothing there is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := s.delete(ctx, key); err != nil || s.scheme != folder {
		return err
	}
	// What is being written bears the same name with a suffix.
	objects, failed := s.bucket.List(&gocloud.ListOptions{Prefix: key}).All(ctx)
	for object := range objects {
		if err := s.delete(ctx, object.Key); err != nil {
			return err
		}
	}
	return failed()
}

func (s *Store) delete(ctx context.Context, key string) error {
	if err := s.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete blob: %w", err)
	}
	return nil
}

// Close gives the bucket back.
func (s *Store) Close() error { return s.bucket.Close() }
