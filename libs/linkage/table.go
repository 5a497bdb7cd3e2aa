package linkage

import (
	"bufio"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
)

//go:embed data
var files embed.FS

// lines calls each with every line of a table that is neither empty nor a comment. The tables are part of the program: one
// that cannot be read is a mistake of whoever built it.
func lines(name string, each func(line string)) {
	file, err := files.Open("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("linkage: %v", err))
	}
	var reader io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if reader, err = gzip.NewReader(file); err != nil {
			panic(fmt.Sprintf("linkage: %s: %v", name, err))
		}
	}
	scanner := bufio.NewScanner(reader)
	for scanner.Scan() {
		if line := scanner.Text(); line != "" && line[0] != '#' {
			each(line)
		}
	}
	if err := scanner.Err(); err != nil {
		panic(fmt.Sprintf("linkage: %s: %v", name, err))
	}
}
