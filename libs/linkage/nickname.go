package linkage

func nicknames() map[string][]uint16 { return nil }
