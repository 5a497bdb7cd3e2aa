package linkage

type shares struct{}

func newShares(name string) shares { return shares{} }
