// Package data holds the tables that people are made from, with where each comes from and what it may be used for
// (README.md). It knows nothing of how they are drawn from.
package data

import (
	"bufio"
	"compress/gzip"
	"embed"
	"fmt"
	"strings"
)

//go:embed *.gz *.csv *.txt
var files embed.FS

// Lines calls each with every line of a table that is neither empty nor a comment. Tables named .gz are unpacked.
func Lines(name string, each func(line string) error) error {
	file, err := files.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	if strings.HasSuffix(name, ".gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		scanner = bufio.NewScanner(unpacked)
	}
	for number := 1; scanner.Scan(); number++ {
		line := scanner.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if err := each(line); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, number, err)
		}
	}
	return scanner.Err()
}

// Words are all words of a list. An underscore in one stands for a space.
func Words(name string) ([]string, error) {
	var out []string
	err := Lines(name, func(line string) error {
		for word := range strings.FieldsSeq(line) {
			out = append(out, strings.ReplaceAll(word, "_", " "))
		}
		return nil
	})
	return out, err
}
