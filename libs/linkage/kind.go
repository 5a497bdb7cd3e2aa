package linkage

// More kinds of text, each with a normal form of its own.
const (
	Blank      Kind = iota + Plain + 1 // of any field, when it says nothing beside its neighbours: "Doe" beside "John"
	City                               // towns: St and Saint, Ft and Fort are one
	Region                             // states and provinces: California is CA
	Postal                             // postal codes: of a ZIP+4 the ZIP
	Generation                         // suffixes: Jr, Sr, III; academic ones are Missing
)
