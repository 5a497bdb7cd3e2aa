package run

import (
	"fmt"
	"runtime/debug"
)

// Safely gives a panic back as an error: where nobody else would, one bad line or record would end all that the program does.
func Safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T at %s", p, debug.Stack()) // the value may hold anything, so its type must do
		}
	}()
	return do()
}
