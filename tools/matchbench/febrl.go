package matchbench

import (
	"compress/gzip"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

//go:embed data
var files embed.FS

// rows reads a packed CSV, each row by the names of its columns.
func rows(name string, each func(row map[string]string) error) error {
	file, err := files.Open("data/" + name + ".csv.gz")
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	reader := csv.NewReader(unpacked)
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if err != nil {
		return err
	}
	for {
		cells, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row := map[string]string{}
		for i, cell := range cells {
			row[strings.TrimSpace(header[i])] = strings.TrimSpace(cell)
		}
		if err := each(row); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// febrl reads one of the sets that Febrl's generator made.
func febrl(name string) (Set, error) {
	set := Set{Name: name}
	err := rows(name, func(row map[string]string) error {
		parts := strings.Split(row["rec_id"], "-") // rec-12-dup-3
		if len(parts) < 3 {
			return fmt.Errorf("a record without a number: %q", row["rec_id"])
		}
		truth, err := strconv.ParseInt(parts[1], 10, 64)
		if err != nil {
			return err
		}
		p := linkage.Demographics{
			ID: int64(len(set.Records) + 1), FirstName: row["given_name"], LastName: row["surname"], DOB: day(row["date_of_birth"]),
		}
		address := linkage.Address{
			Line1: strings.TrimSpace(row["street_number"] + " " + row["address_1"]), Line2: row["address_2"], City: row["suburb"],
			State: row["state"], PostalCode: row["postcode"], Country: "AU",
		}
		if address != (linkage.Address{Country: "AU"}) {
			p.Addresses = []linkage.Address{address}
		}
		if number := row["soc_sec_id"]; number != "" {
			p.Identifiers = []linkage.Identifier{{Type: "SS", Authority: "febrl", Value: number}}
		}
		set.Records = append(set.Records, Record{Person: p, Truth: truth})
		return nil
	})
	return set, err
}

// day makes YYYY-MM-DD of YYYYMMDD; empty of what is none, or none that a patient can have: an error led to the future.
func day(s string) string {
	t, err := time.Parse("20060102", s)
	if err != nil || t.Year() < 1800 || t.After(time.Now()) {
		return ""
	}
	return t.Format(time.DateOnly)
}

// rldata reads the set that the R package RecordLinkage came with.
func rldata(name string) (Set, error) {
	set := Set{Name: name}
	known := func(s string) string {
		if s == "NA" {
			return ""
		}
		return s
	}
	err := rows(name, func(row map[string]string) error {
		truth, err := strconv.ParseInt(row["ent_id"], 10, 64)
		if err != nil {
			return err
		}
		year, err1 := strconv.Atoi(row["by"])
		month, err2 := strconv.Atoi(row["bm"])
		date, err3 := strconv.Atoi(row["bd"])
		born := ""
		if err1 == nil && err2 == nil && err3 == nil {
			born = day(fmt.Sprintf("%04d%02d%02d", year, month, date))
		}
		last := known(row["lname_c1"])
		if second := known(row["lname_c2"]); second != "" {
			last += "-" + second
		}
		set.Records = append(set.Records, Record{Truth: truth, Person: linkage.Demographics{
			ID: int64(len(set.Records) + 1), FirstName: known(row["fname_c1"]), MiddleName: known(row["fname_c2"]), LastName: last, DOB: born,
		}})
		return nil
	})
	return set, err
}
