package patient

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Alias is another name of a patient.
type Alias struct {
	Child
	Type      string `db:"type"` // maiden, nickname, preferred, previous, legal_change or alias
	Alias     string `db:"alias"`
	FirstName string `db:"first_name"`
	LastName  string `db:"last_name"`
	FullName  string `db:"full_name"`
	Interval         // effectiveFrom and effectiveTo
}

// Aliases is the verbs on aliases.
type Aliases = Children[Alias, *Alias, AliasInput]

// AliasInput is what a caller gives of an alias. Nil is what was not given.
type AliasInput struct {
	Type, Alias, FirstName, LastName, FullName *string
	EffectiveFrom, EffectiveTo                 *string
}

// DefaultAliasType is what an alias is when nobody said.
const DefaultAliasType = "alias"

// AliasTypes is the value set of an alias's type.
func AliasTypes() []string {
	return []string{"maiden", "nickname", "preferred", "previous", "legal_change", DefaultAliasType}
}

// Active says whether it holds now.
func (a *Alias) Active(now time.Time) bool { return a.DeactivatedAt == nil && a.Contains(now) }

// New makes an alias, or tells every rule that the input breaks.
func (in AliasInput) New(now time.Time) (Alias, []fault.Field) {
	return in.edit(Alias{Child: born(now), Type: DefaultAliasType}, editor{now: now, creating: true})
}

// Apply is the alias with the input applied.
func (in AliasInput) Apply(to Alias, now time.Time) (Alias, []fault.Field) {
	return in.edit(to, editor{now: now})
}

// Validate tells the rules that the input breaks whatever alias it is meant for: only one that clears all names leaves
// none for sure.
func (in AliasInput) Validate(now time.Time) []fault.Field {
	const some = "-"
	_, faults := in.Apply(Alias{Alias: some, FirstName: some, LastName: some, FullName: some}, now)
	return faults
}

func (in AliasInput) edit(a Alias, e editor) (Alias, []fault.Field) {
	e.choice("type", in.Type, AliasTypes(), &a.Type)
	text(in.Alias, &a.Alias)
	text(in.FirstName, &a.FirstName)
	text(in.LastName, &a.LastName)
	text(in.FullName, &a.FullName)
	if a.Alias == "" && a.FirstName == "" && a.LastName == "" && a.FullName == "" {
		e.fault("alias", "required", "or firstName, lastName or fullName is required")
	}
	e.interval("effectiveFrom", "effectiveTo", in.EffectiveFrom, in.EffectiveTo, &a.Interval)
	return a, e.faults
}
