package body

// Structure reads an object as it came, of at most limit bytes, for a member whose form another specification decides.
func (o *Object) Structure(name string, limit int) Member[[]byte] {
	m, raw := member[[]byte](o, name, '{', "must be an object")
	if !m.Given() {
		return m
	}
	if len(raw) > limit {
		o.Fault(name, "too_long", "is too long")
		return Member[[]byte]{}
	}
	m.Value = raw
	return m
}
