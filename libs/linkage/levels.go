package linkage

// Levels tells how a candidate agrees, as Score sees it: for each field of the model, in its order, the level's place in
// Field.Levels; -1 where one of the two lacks the field, or where another field holds in its place.
func (q *Question) Levels(candidate *Person, into []int8) []int8 {
	var p pair
	q.compare(candidate, &p)
	return append(into[:0], p.level[:]...)
}

// Levels is Question.Levels of two people without frequencies.
func (m *Model) Levels(a, b *Person, into []int8) []int8 {
	return m.Ask(a, nil, 0).Levels(b, into)
}
