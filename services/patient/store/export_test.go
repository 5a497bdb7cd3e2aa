package store

// RollUpSoon lets a test ask for a roll-up.
func (s *Store) RollUpSoon(tenant string) { s.rollUpSoon(tenant) }
