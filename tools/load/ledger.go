package load

import (
	"encoding/binary"
	"errors"
	"os"
)

// ledger keeps the id that each row got, on disk, so that a file of any length costs no memory. It is safe for
// concurrent use.
type ledger struct{ file *os.File }

const ledgerEntry = 8 // bytes: an id, 0 where a row got none

func newLedger() (*ledger, error) {
	file, err := os.CreateTemp("", "load-ids-*")
	if err != nil {
		return nil, err
	}
	return &ledger{file: file}, nil
}

func (l *ledger) put(index, id int64) error {
	var entry [ledgerEntry]byte
	binary.LittleEndian.PutUint64(entry[:], uint64(id)) //nolint:gosec // ids are positive
	_, err := l.file.WriteAt(entry[:], index*ledgerEntry)
	return err
}

// get is the id of a row, 0 when it got none.
func (l *ledger) get(index int64) int64 {
	var entry [ledgerEntry]byte
	if _, err := l.file.ReadAt(entry[:], index*ledgerEntry); err != nil {
		return 0 // rows at the end that got none are not in the file
	}
	return int64(binary.LittleEndian.Uint64(entry[:])) //nolint:gosec // what put wrote
}

func (l *ledger) close() error {
	return errors.Join(l.file.Close(), os.Remove(l.file.Name()))
}
