// Command shares writes the tables of libs/linkage that say how common names are: the commonest of the tables that
// tools/synth makes people from, and what a name beyond them has on the average. It knows nothing of matching.
package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
)

// What the tables leave out, by their publishers' words (libs/linkage/data/README.md).
const (
	surnames2010  = 294_979_229 // people whose last name the Census of 2010 counted
	rareSurname   = 40          // bearers of a name that the Census does not list, about: it lists from 100
	firstListed   = 0.9         // of the people, who have a listed first name in 1990
	birthsListed  = 0.99
	rareFirstName = 200
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: shares FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "shares:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	family, given := table{of: map[string]int{}, rare: rareSurname}, table{of: map[string]int{}, rare: rareFirstName}
	if err := data.Lines("surnames.csv.gz", func(line string) error { return family.add(line, 0, 1) }); err != nil {
		return err
	}
	family.total = surnames2010
	if err := data.Lines("first.csv.gz", func(line string) error { return given.add(line, 1, 2) }); err != nil {
		return err
	}
	given.total = int(float64(given.listed) / firstListed)
	before := given.listed
	if err := data.Lines("births.csv.gz", func(line string) error { return given.add(line, 1, 2) }); err != nil {
		return err
	}
	given.total += int(float64(given.listed-before) / birthsListed)
	if err := family.write(filepath.Join(folder, "family.txt.gz"), 20_000); err != nil {
		return err
	}
	return given.write(filepath.Join(folder, "given.txt.gz"), 12_000)
}

// table is names with their bearers.
type table struct {
	of            map[string]int
	listed, total int
	rare          int // bearers of a name that is not listed
}

// add adds up the numbers of a line from a column on.
func (t *table) add(line string, name, from int) error {
	cells := strings.Split(line, ",")
	if len(cells) <= from {
		return fmt.Errorf("too few columns")
	}
	for _, cell := range cells[from:] {
		if cell == "" {
			continue
		}
		n, err := strconv.Atoi(cell)
		if err != nil {
			return err
		}
		t.of[strings.ToLower(cells[name])] += n
		t.listed += n
	}
	return nil
}

func (t *table) write(path string, most int) (err error) {
	names := make([]string, 0, len(t.of))
	for name := range t.of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(t.of[b], t.of[a]), cmp.Compare(a, b)) })
	// Of somebody with a name beyond the table, that name's bearers on the average.
	bearers, people := float64(t.total-t.listed)*float64(t.rare), float64(t.total-t.listed)
	for _, name := range names[min(most, len(names)):] {
		n := float64(t.of[name])
		bearers, people = bearers+n*n, people+n
	}
	file, err := os.Create(path) //nolint:gosec // whoever runs it says where
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(packed)
	fmt.Fprintf(out, "TOTAL %d\nTAIL %.0f\n", t.total, bearers/people)
	for _, name := range names[:min(most, len(names))] {
		fmt.Fprintln(out, name, t.of[name])
	}
	return cmp.Or(out.Flush(), packed.Close())
}
