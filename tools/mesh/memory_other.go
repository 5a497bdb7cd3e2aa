//go:build !linux

package mesh

func inMemory() string { return "" }
