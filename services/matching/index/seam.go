// Package index keeps a tenant's people in memory. This file stands where it comes: remove it with its merge.
package index

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

type Index struct{}

type Options struct{}

func New(Options) *Index { return &Index{} }

func (x *Index) Apply([]linkage.Demographics) {}

type Query struct {
	Person   linkage.Demographics
	Model    *linkage.Model
	Limit    int
	MinScore float64
	Now      int64
}

type ExactQuery struct {
	Person linkage.Demographics
	After  int64
	Limit  int
	Now    int64
}

type Found struct {
	Hits      []Hit
	Total     int
	Truncated bool
	Next      int64
	Second    float64
	Scored    int
}

type Hit struct {
	Demographics linkage.Demographics
	Score, Bits  float64
	Veto         string
	Evidence     []linkage.Evidence
}

func (x *Index) Find(Query) Found                                 { return Found{} }
func (x *Index) Exact(context.Context, ExactQuery) (Found, error) { return Found{}, nil }
