package image

import (
	"encoding/base64"
	"encoding/hex"
	"runtime/debug"
	"slices"
	"strings"
)

// Bill is a CycloneDX 1.6 document, as far as we have something to say in it.
type Bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   Metadata    `json:"metadata"`
	Components []Component `json:"components"`
}

// Metadata says what the bill is of.
type Metadata struct {
	Component Component `json:"component"`
}

// Component is a program or a module in it.
type Component struct {
	Reference  string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	URL        string     `json:"purl,omitempty"`
	Properties []Property `json:"properties,omitempty"`
}

// Property is whatever else is known.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Materials is the bill of a program by its build record: the modules that were linked, and Go itself. The same build
// gives the same bill.
func Materials(info *debug.BuildInfo, name, version string) Bill {
	bill := Bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	bill.Metadata.Component = Component{
		Reference: "program", Type: "application", Name: name, Version: version,
		Properties: []Property{{"go:package", info.Path}},
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	bill.Components = append(bill.Components, Component{
		Reference: "std", Type: "library", Name: "std", Version: std, URL: "pkg:golang/std@" + std,
	})
	for _, module := range info.Deps {
		if module.Replace != nil && !strings.HasPrefix(module.Replace.Path, ".") {
			module = module.Replace
		}
		c := Component{Reference: module.Path, Type: "library", Name: module.Path, Version: module.Version}
		if !own(module.Path) {
			c.URL = "pkg:golang/" + module.Path + "@" + strings.ReplaceAll(module.Version, "+", "%2B")
		} else {
			c.Version = version
		}
		if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
			// Go's digest is of the list of a module's files and their digests.
			if raw, err := base64.StdEncoding.DecodeString(sum); err == nil {
				c.Properties = []Property{{"go:h1", hex.EncodeToString(raw)}}
			}
		}
		bill.Components = append(bill.Components, c)
	}
	slices.SortFunc(bill.Components, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	return bill
}

func own(path string) bool { return strings.HasPrefix(path, "github.com/patient-mesh/") }
