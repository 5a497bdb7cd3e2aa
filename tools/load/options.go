package load

import (
	"errors"
	"time"
)

// Options say what to load where. Gateway, APIKey and File are needed; the rest has defaults.
type Options struct {
	Gateway string // base URL
	APIKey  string
	File    string

	Columns map[string]string // field to heading, for headings that are not known by themselves
	Workers int               // requests under way at a time; 16
	Label   string            // makes another load of the same file: its people are created once more

	// PlaceholderName and PlaceholderDOB stand in for what a row lacks and a patient must have. Empty leaves such rows
	// out: a record says what is known of a person, and this tool does not make it up unasked.
	PlaceholderName string
	PlaceholderDOB  string // YYYY-MM-DD

	Timeout  time.Duration // of one request; 30 s
	Patience time.Duration // for one row, with all its tries; 5 min

	// Progress is told of each row that is done, from any goroutine; nil: nobody is told. Begin tells it how many rows
	// there are, about.
	Begin    func(what string, rows int64)
	Progress func()
}

func (o Options) withDefaults() (Options, error) {
	if o.Gateway == "" || o.APIKey == "" || o.File == "" {
		return o, errors.New("a gateway, an API key and a file are needed")
	}
	if o.Workers <= 0 {
		o.Workers = 16
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Minute
	}
	if o.Begin == nil {
		o.Begin = func(string, int64) {}
	}
	if o.Progress == nil {
		o.Progress = func() {}
	}
	return o, nil
}

// complete fills in placeholders, and gives the reason why a person cannot be sent, if there is one.
func (o Options) complete(p *Person) (reason string) {
	for _, name := range []struct {
		value *string
		field string
	}{{&p.FirstName, "firstName"}, {&p.LastName, "lastName"}} {
		if *name.value == "" {
			*name.value = o.PlaceholderName
		}
		if *name.value == "" {
			reason = join(reason, name.field)
		}
	}
	if p.DOB == "" {
		p.DOB = o.PlaceholderDOB
	}
	if p.DOB == "" {
		reason = join(reason, "dob")
	}
	if reason != "" {
		reason = "lacks " + reason
	}
	return reason
}

func join(list, item string) string {
	if list == "" {
		return item
	}
	return list + " and " + item
}
