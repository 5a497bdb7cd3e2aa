package matchbench

import "github.com/patient-mesh/patient-mesh/tools/synth"

// made is a set of people who never lived.
func made(name string, o synth.Options) (Set, error) {
	generator, err := synth.New(o)
	if err != nil {
		return Set{}, err
	}
	set := Set{Name: name}
	for r := range generator.Records() {
		p := Demographics(&r, int64(len(set.Records)+1))
		set.Records = append(set.Records, Record{Person: p, Truth: r.Person})
	}
	return set, nil
}
