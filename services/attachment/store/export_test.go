package store

// SearchSQL is the statement of a search, for a test that looks at how it is done.
const SearchSQL = search
