package statestore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/providers"
)

// operatorState is the state of one operator of a checkpoint.
type operatorState struct {
	fsys fs.FS
	ck   *checkpoint.Checkpoint
	o    options
}

// committed returns the last batch that was committed.
func committed(ctx context.Context, fsys fs.FS, dir string) (int64, *checkpoint.Checkpoint, error) {
	ck, err := checkpoint.Open(ctx, fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return 0, nil, err
	}
	last, ok := ck.Commits.LatestID()
	if !ok {
		return 0, ck, errclass.New("STDS_COMMITTED_BATCH_UNAVAILABLE", "checkpointLocation", dir)
	}
	return last, ck, nil
}

// place says where the state behind a batch lies: it may have been written anew since the batch before.
func (s *operatorState) place(batch int64) (r state.Reader, dir string, version int64, err error) {
	logged, err := s.ck.Offsets.Get(batch)
	if err != nil {
		return nil, "", 0, err
	}
	conf := logged.Metadata.Conf
	text, _ := conf.Get(checkpoint.GenerationKey)
	g, err := checkpoint.ParseGeneration(text)
	if err != nil {
		return nil, "", 0, s.o.noSchema(err)
	}
	provider, _ := conf.Get(providers.Key)
	if r, err = providers.ReaderOf(provider, s.fsys); err != nil {
		return nil, "", 0, s.o.noSchema(err)
	}
	return r, filepath.Join(g.Dir(s.ck.StateDir()), strconv.FormatInt(s.o.operator, 10), "0"), batch + 1 - g.Shift(), nil
}

// noSchema is the error of a state that does not say what its columns are.
func (o options) noSchema(why error) error {
	return errclass.New("STDS_FAILED_TO_READ_STATE_SCHEMA", "sourceOptions", o.text()).WithCause(why)
}

func (o options) text() string {
	parts := []string{"checkpoint " + o.dir, fmt.Sprintf("operatorId %d", o.operator), "storeName " + o.storeName}
	if o.side != "" {
		parts = append(parts, "joinSide "+o.side)
	}
	return strings.Join(parts, ", ")
}

func (s *operatorState) header(batch int64) (state.Header, error) {
	r, dir, version, err := s.place(batch)
	if err != nil {
		return state.Header{}, err
	}
	if _, err := s.fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return state.Header{}, s.o.noSchema(fmt.Errorf("there is no folder %s", dir))
	}
	return r.Header(dir, version)
}

// content is what the state holds behind a batch.
func (s *operatorState) content(ctx context.Context, batch int64) (state.Content, error) {
	r, dir, version, err := s.place(batch)
	if err != nil {
		return state.Content{}, err
	}
	return r.Content(ctx, dir, version)
}

// changes are what a batch has done to the state.
func (s *operatorState) changes(ctx context.Context, batch int64) (state.Content, error) {
	r, dir, version, err := s.place(batch)
	if err != nil {
		return state.Content{}, err
	}
	return r.Changes(ctx, dir, version)
}
