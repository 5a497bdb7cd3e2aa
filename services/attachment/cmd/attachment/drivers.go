//go:build !localblobs

// The tag localblobs leaves the clouds' drivers out, which the race detector's build has: their libraries take longer to compile
// than all else together.

package main

// The clouds that BLOB_URL can name. Folders come with the package blob.
import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
