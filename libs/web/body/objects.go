package body

import (
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Objects reads a list of objects, of at most count. One that is no object is a fault, and nil in the list.
func (o *Object) Objects(name string, count int) []*Object {
	m, raw := member[[]*Object](o, name, '[', "must be a list of objects")
	if !m.Given() {
		return nil
	}
	var list []*Object
	number := 0
	each(raw, func(_, value []byte) {
		if number++; number > count {
			return
		}
		var one *Object
		if value[0] == '{' {
			one = &Object{raw: value}
			one.split(value)
		} else {
			o.Fault(place(name, number-1), "invalid_type", "must be an object")
		}
		list = append(list, one)
	})
	if number > count {
		o.Fault(name, "too_many", "must have at most "+strconv.Itoa(count)+" entries")
		return nil
	}
	return list
}

func place(name string, n int) string { return name + "[" + strconv.Itoa(n) + "]" }

// Within notes what is wrong with the object that stands at a place of a list: what could not be read of it, and what
// further rules found. Of several faults of one member the first is kept.
func (o *Object) Within(name string, n int, one *Object, further []fault.Field) {
	if len(one.faults) == 0 && len(further) == 0 {
		return
	}
	for _, f := range fault.Of(one.Err(further...)).Fields {
		o.Fault(place(name, n)+"."+f.Field, f.Code, f.Message)
	}
}
