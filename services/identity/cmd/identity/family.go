package main

import (
	"context"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

type families struct{}

func (families) SwitchFamily(context.Context, string, string, string, bool) (bool, error) {
	return false, nil
}

func (families) Exchange(context.Context, identity.Exchange) (identity.Exchanged, error) {
	return identity.Exchanged{}, nil
}

func (families) EndFamily(context.Context, string, string, bool) (bool, error)  { return false, nil }
func (families) FamiliesOf(context.Context, string) ([]identity.Session, error) { return nil, nil }
