//go:build !localblobs

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
)

// TestS3 speaks S3's protocol to a server in memory: what MinIO and others understand of it.
func TestS3(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("documents"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "whatever")
	place := "?region=us-east-1&use_path_style=true&endpoint=" + server.URL
	blobtest.Run(t, func(t *testing.T, keys blob.Keys) *blob.Store {
		t.Helper()
		return open(t, "s3://documents"+place, keys)
	})
	// What was broken off has left no parts behind, which nobody would see and everybody pay for.
	answer, err := http.Get(server.URL + "/documents?uploads")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	list, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(list), "<ListMultipartUploadsResult") || strings.Contains(string(list), "<UploadId>") {
		t.Errorf("uploads under way: %s, %v", list, err)
	}
	if err := open(t, "s3://nowhere"+place, blob.Keys{}).Ready(t.Context()); err == nil {
		t.Error("ready without its bucket")
	}
}
