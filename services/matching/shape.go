package matching

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// misshapen tells every member of a JSON value that is not of the type that a Go value has there, by its path. What is unknown
// is ignored, as it is everywhere.
func misshapen(raw []byte, into reflect.Type, path string) []fault.Field {
	wrong := func(message string) []fault.Field {
		return []fault.Field{{Field: path, Code: "invalid_type", Message: message}}
	}
	switch into.Kind() {
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members == nil {
			return wrong("must be an object")
		}
		var faults []fault.Field
		for i := range into.NumField() {
			field := into.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if value, given := members[name]; given && field.IsExported() {
				faults = append(faults, misshapen(value, field.Type, path+"."+name)...)
			}
		}
		return faults
	case reflect.Slice:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || list == nil {
			return wrong("must be a list")
		}
		var faults []fault.Field
		for i, value := range list {
			faults = append(faults, misshapen(value, into.Elem(), path+"["+strconv.Itoa(i)+"]")...)
		}
		return faults
	default:
		if string(raw) == "null" || json.Unmarshal(raw, reflect.New(into).Interface()) != nil {
			return wrong("must be " + called(into.Kind()))
		}
		return nil
	}
}

// called is how a kind of value is called in JSON.
func called(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "an object of numbers"
	case reflect.Int:
		return "an integer"
	default:
		return "a number"
	}
}
