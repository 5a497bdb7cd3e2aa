package body

// Any reads a value of any type but null, as it came: its numbers, its names and their order, and the spaces within.
func (o *Object) Any(name string) Member[[]byte] {
	raw, ok := o.members[name]
	if !ok {
		return Member[[]byte]{}
	}
	if raw.Kind() == 'n' {
		return Member[[]byte]{Present: true, Null: true}
	}
	return Member[[]byte]{Present: true, Value: raw}
}
