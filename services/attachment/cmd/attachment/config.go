package main

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// settings is the service's configuration.
type settings struct {
	config.Common
	pg.Config
	BlobURL      string        `env:"BLOB_URL,required,notEmpty"`           // where bytes are kept: file://, s3://, gs:// or azblob://
	ContentLimit int64         `env:"CONTENT_LIMIT" envDefault:"104857600"` // of one document's bytes
	ContentKeys  string        `env:"CONTENT_KEYS"`                         // id:base64[,id:base64]; the first encrypts; none: the store does
	CollectEvery time.Duration `env:"COLLECT_EVERY" envDefault:"1m"`        // how often what uploads left behind is looked for
}
