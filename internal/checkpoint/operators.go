package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/fs"
)

// Operator describes a stateful operator: what tells after a restart whether the state is its own.
type Operator struct {
	ID     int64
	Name   string // "stateStoreSave", "dedupe", "symmetricHashJoin", ...
	Stores []Store
}

// Store describes one state store of an operator.
type Store struct {
	Name             string // "default", or one of the four of a join
	NumColsPrefixKey int64
	NumPartitions    int64
}

const operatorVersion = 1

// WriteOperator writes the metadata of an operator durably, unless it is there: it is written
// before the operator's first state and does not change.
func (c *Checkpoint) WriteOperator(ctx context.Context, op Operator) error {
	s, err := c.StageOperator(op)
	if s == nil || err != nil {
		return err
	}
	return commit(ctx, s)
}

// StageOperator is WriteOperator for a round; the result is nil when the file is there.
func (c *Checkpoint) StageOperator(op Operator) (*fs.Staged, error) {
	file := c.operatorFile(op.ID)
	_, err := c.fsys.Stat(file)
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir := filepath.Dir(file)
	if err := errors.Join(fs.MakeDirs(c.fsys, dir), removeIfThere(c.fsys, filepath.Join(dir, ".metadata.crc"))); err != nil {
		return nil, fmt.Errorf("write %s: %w", file, err)
	}
	return fs.Stage(c.fsys, file, appendOperator(nil, op)).Then(nil, func(err error) error { return addError(file, 0, err) }), nil
}

// SyncOperator adds metadata that is there to a round: a run that ended before it was durable may have left it.
func (c *Checkpoint) SyncOperator(r *fs.Round, id int64) {
	file := c.operatorFile(id)
	r.File(c.fsys, file)
	r.Dir(c.fsys, filepath.Dir(file))
}

// ReplaceOperator writes the metadata of an operator in place of what there is: when the number of its partitions has changed.
func (c *Checkpoint) ReplaceOperator(ctx context.Context, op Operator) error {
	file := c.operatorFile(op.ID)
	if err := fs.Replace(ctx, c.fsys, file, appendOperator(nil, op)); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// Operators reads the metadata of all operators, by id. Operators of which there is state but no metadata
// are not among them.
func (c *Checkpoint) Operators() ([]Operator, error) {
	ids, err := c.OperatorIDs()
	if err != nil {
		return nil, err
	}
	var ops []Operator
	for _, id := range ids {
		op, err := c.Operator(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// OperatorIDs lists the operators of which there is state, in order.
func (c *Checkpoint) OperatorIDs() ([]int64, error) {
	list, err := c.fsys.ReadDir(c.StateDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, d := range list {
		if e, ok := parseEntry(d.Name()); ok && !e.compact && d.IsDir() {
			ids = append(ids, e.id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Operator reads the metadata of one operator.
func (c *Checkpoint) Operator(id int64) (Operator, error) {
	file := c.operatorFile(id)
	content, err := fs.ReadFile(c.fsys, file)
	var op Operator
	if err == nil {
		op, err = parseOperator(content)
	}
	if err == nil && op.ID != id {
		err = fmt.Errorf("it is about operator %d", op.ID)
	}
	if err != nil {
		return op, fileError(file, err, restoreAdvice)
	}
	return op, nil
}

// OperatorFile is where the metadata of an operator are.
func (c *Checkpoint) OperatorFile(id int64) string { return c.operatorFile(id) }

func (c *Checkpoint) operatorFile(id int64) string {
	return filepath.Join(c.StateDir(), strconv.FormatInt(id, 10), "_metadata", "metadata")
}

func appendOperator(b []byte, op Operator) []byte {
	b = append(b, "v1\n{\"operatorInfo\":{\"operatorId\":"...)
	b = strconv.AppendInt(b, op.ID, 10)
	b = append(b, `,"operatorName":`...)
	b = appendString(b, op.Name)
	b = append(b, `},"stateStoreInfo":[`...)
	for i, s := range op.Stores {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"storeName":`...)
		b = appendString(b, s.Name)
		b = append(b, `,"numColsPrefixKey":`...)
		b = strconv.AppendInt(b, s.NumColsPrefixKey, 10)
		b = append(b, `,"numPartitions":`...)
		b = strconv.AppendInt(b, s.NumPartitions, 10)
		b = append(b, '}')
	}
	return append(b, ']', '}')
}

func parseOperator(content []byte) (Operator, error) {
	var op Operator
	_, rest, err := cutVersion(content, operatorVersion)
	if err != nil {
		return op, err
	}
	named := false
	err = eachField(rest, func(key, value []byte) error {
		switch string(key) {
		case "operatorInfo":
			return eachField(value, func(key, value []byte) (err error) {
				switch string(key) {
				case "operatorId":
					op.ID, err = intValue(value)
				case "operatorName":
					op.Name, err = stringValue(value)
					named = true
				}
				return err
			})
		case "stateStoreInfo":
			var stores []json.RawMessage
			if err := json.Unmarshal(value, &stores); err != nil {
				return errors.New("it is not a list")
			}
			for _, text := range stores {
				s, err := parseStore(text)
				if err != nil {
					return err
				}
				op.Stores = append(op.Stores, s)
			}
		}
		return nil
	})
	if err == nil && !named {
		err = errors.New("it does not say which operator it is about")
	}
	return op, err
}

func parseStore(text []byte) (s Store, err error) {
	err = eachField(text, func(key, value []byte) (err error) {
		switch string(key) {
		case "storeName":
			s.Name, err = stringValue(value)
		case "numColsPrefixKey":
			s.NumColsPrefixKey, err = intValue(value)
		case "numPartitions":
			s.NumPartitions, err = intValue(value)
		}
		return err
	})
	return s, err
}
