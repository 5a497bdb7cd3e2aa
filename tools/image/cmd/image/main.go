// Command image makes the files of the container images: image -out .bin/image -version v1.2.3
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/patient-mesh/patient-mesh/tools/image"
)

func main() {
	o := image.Options{Log: os.Stderr}
	flag.StringVar(&o.Source, "source", ".", "the tree")
	flag.StringVar(&o.Out, "out", ".bin/image", "where to put the files")
	flag.StringVar(&o.Version, "version", "development", "what the programs say they are")
	flag.StringVar(&o.Authorities, "authorities", "", "a PEM file of the authorities that TLS trusts, instead of Mozilla's")
	flag.Parse()
	if err := image.Make(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}
