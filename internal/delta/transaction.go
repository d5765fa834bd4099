package delta

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/types"
)

// EngineInfo is how commits name the engine that has made them.
const EngineInfo = "millrace/1.0.0"

// maxAttempts is how often a commit may be overtaken by others.
const maxAttempts = 100_000

// Operation is what a commit was made for.
type Operation struct {
	Name       string
	Parameters map[string]string
	Metrics    map[string]string
	// Blind tells that nothing of the table was read.
	Blind        bool
	UserMetadata *string
}

// Transaction is a change of a table, which becomes its next version or fails. It is for one goroutine.
type Transaction struct {
	log  *Log
	read *Snapshot // nil for a table that is not there yet

	metadata *Metadata // the new one, or nil
	protocol *Protocol
	actions  []Action // adds and removes, in the order of the commit
	txns     []Txn

	// What was read and must not have changed: everything, the files in some partitions, or the files in keys.
	whole  bool
	inside func(*Add) bool
	keys   map[string]bool
}

// Begin starts a transaction on a snapshot; nil makes a new table.
func (l *Log) Begin(read *Snapshot) *Transaction {
	return &Transaction{log: l, read: read, keys: map[string]bool{}}
}

// Snapshot is what the transaction has read; nil for a new table.
func (t *Transaction) Snapshot() *Snapshot { return t.read }

// Metadata is what the table looks like with the transaction.
func (t *Transaction) Metadata() *Metadata {
	if t.metadata != nil || t.read == nil {
		return t.metadata
	}
	return t.read.Metadata
}

// Schema is that of the table with the transaction.
func (t *Transaction) Schema() (types.StructType, error) {
	if t.metadata != nil {
		return t.metadata.Schema()
	}
	return t.read.Schema, nil
}

// SetMetadata changes what the table looks like. asked is the protocol that was asked for by properties, or nil. The protocol becomes
// what the table then needs.
func (t *Transaction) SetMetadata(m *Metadata, asked *Protocol) error {
	s, err := m.Schema()
	if err != nil {
		return err
	}
	var old *Protocol
	if t.read != nil {
		old = t.read.Protocol
	}
	if asked != nil && (asked.MinReaderVersion > 0 || asked.MinWriterVersion > 0) && old == nil {
		p := *asked
		if p.MinWriterVersion >= featureWriter && len(p.WriterFeatures) == 0 { // features are named one by one, and none was
			p = Protocol{MinReaderVersion: 1, MinWriterVersion: 1}
		}
		old = &p
	}
	p, err := protocolFor(old, m, s)
	if err != nil {
		return err
	}
	if asked != nil {
		p.addFeatures(asked.WriterFeatures)
	}
	t.metadata = m
	if t.read == nil || !equalProtocol(&p, t.read.Protocol) {
		t.protocol = &p
	}
	return nil
}

// addFeatures adds features by name.
func (p *Protocol) addFeatures(names []string) {
	for _, name := range names {
		if p.Has(name) {
			continue
		}
		if p.MinWriterVersion < featureWriter {
			p.WriterFeatures, p.MinWriterVersion = p.Features(), featureWriter
		}
		p.WriterFeatures = append(p.WriterFeatures, name)
		if features[name].both {
			p.MinReaderVersion = featureReader
			p.ReaderFeatures = append(p.ReaderFeatures, name)
		}
	}
}

// ReadWhole notes that the outcome depends on all files.
func (t *Transaction) ReadWhole() { t.whole = true }

// ReadInside notes that the outcome depends on the files for which keep is true.
func (t *Transaction) ReadInside(keep func(*Add) bool) { t.inside = keep }

// ReadFile notes that the outcome depends on a file.
func (t *Transaction) ReadFile(a *Add) { t.keys[a.Key()] = true }

// Add adds a file.
func (t *Transaction) Add(a *Add) { t.actions = append(t.actions, Action{Add: a}) }

// AddChanges adds a file of changed rows.
func (t *Transaction) AddChanges(c *CDC) { t.actions = append(t.actions, Action{CDC: c}) }

// Remove takes a file out.
func (t *Transaction) Remove(a *Add, dataChange bool) {
	t.ReadFile(a)
	t.actions = append(t.actions, Action{Remove: removeOf(a, t.log.now().UnixMilli(), dataChange)})
}

// EndWithProtocol puts the protocol that the table has or gets at the end of the commit, as RESTORE does.
func (t *Transaction) EndWithProtocol() {
	p := t.protocol
	if p == nil {
		p = t.read.Protocol
	}
	t.protocol = nil
	t.actions = append(t.actions, Action{Protocol: p})
}

// FileSizes are how many files there are, and how large they are.
type FileSizes struct{ Files, Bytes, Least, Most int64 }

func (s *FileSizes) add(size int64) {
	if s.Files == 0 || size < s.Least {
		s.Least = size
	}
	s.Most = max(s.Most, size)
	s.Files++
	s.Bytes += size
}

// FileCounts are the files that a transaction adds and removes, and in how many partitions it adds some.
type FileCounts struct {
	Added, Removed FileSizes
	Partitions     int64
}

// Changed counts the files of the transaction.
func (t *Transaction) Changed() FileCounts {
	var c FileCounts
	partitions := map[string]bool{}
	for _, a := range t.actions {
		switch {
		case a.Add != nil:
			c.Added.add(a.Add.Size)
			partitions[path.Dir(a.Add.Path)] = true
		case a.Remove != nil && a.Remove.Size != nil:
			c.Removed.add(*a.Remove.Size)
		case a.Remove != nil:
			c.Removed.add(0)
		}
	}
	c.Partitions = int64(len(partitions))
	return c
}

// SetTxn notes how far an application has come.
func (t *Transaction) SetTxn(app string, version int64) {
	at := t.log.now().UnixMilli()
	t.txns = append(t.txns, Txn{app, version, &at})
}

// changes tells whether the commit takes out files whose rows go with them.
func (t *Transaction) changes() bool {
	return slices.ContainsFunc(t.actions, func(a Action) bool { return a.Remove != nil && a.Remove.DataChange })
}

// Commit makes the transaction the next version of the table. Others may have committed meanwhile: if that changes nothing of what was
// read, the transaction comes after them. When it returns without an error, the version is durable.
//
// An error that is not one of a conflict may leave the version there or not, as a crash may.
func (t *Transaction) Commit(ctx context.Context, op Operation) (*Snapshot, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	version := int64(0)
	if t.read != nil {
		version = t.read.Version + 1
	}
	if err := fs.MakeDirs(t.log.FS, t.log.dir()); err != nil {
		return nil, err
	}
	if err := t.log.follows(version); err != nil {
		return nil, err
	}
	id := uuid.NewString()
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		content, actions, err := t.content(op, id)
		if err != nil {
			return nil, err
		}
		err = fs.WriteOnce(ctx, t.log.FS, t.log.CommitFile(version), content)
		if err == nil {
			return t.after(ctx, version, actions)
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		for {
			theirs, err := t.log.Read(version)
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				return nil, err
			}
			if isOurs(theirs, id) {
				return t.after(ctx, version, actions)
			}
			if err := t.conflict(version, theirs); err != nil {
				return nil, err
			}
			version++
		}
	}
	return nil, errclass.New("DELTA_MAX_COMMIT_RETRIES_EXCEEDED", "numAttempts", strconv.Itoa(maxAttempts))
}

// follows checks that a version comes right after one that is there: a table may have been deleted, or made anew, since it was read.
func (l *Log) follows(version int64) error {
	if version == 0 {
		return nil
	}
	_, err := l.FS.Stat(l.CommitFile(version - 1))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ls, err := l.list()
	if err != nil || slices.ContainsFunc(ls.checkpoints, func(c checkpointFiles) bool { return c.complete() && c.version == version-1 }) {
		return err
	}
	return errclass.New("DELTA_VERSIONS_NOT_CONTIGUOUS", "path", l.Path, "versions", rangesOf(ls.commits), "missing", strconv.FormatInt(version-1, 10))
}

func isOurs(actions []Action, id string) bool {
	return slices.ContainsFunc(actions, func(a Action) bool { return a.CommitInfo != nil && a.CommitInfo.TxnID == id })
}

// check refuses what the table does not allow.
func (t *Transaction) check() error {
	p, m := t.protocol, t.Metadata()
	if p == nil {
		p = t.read.Protocol
	}
	if t.read != nil { // a new table may be made with features that only others can write
		if err := p.CheckWrite(t.log.name(), m); err != nil {
			return err
		}
		if t.read.Metadata.AppendOnly() && m.AppendOnly() && t.changes() {
			return errclass.New("DELTA_CANNOT_MODIFY_APPEND_ONLY", "table_name", t.log.name(), "config", propAppendOnly)
		}
	}
	return nil
}

// content is the commit as it is written when nobody comes between any more.
func (t *Transaction) content(op Operation, id string) ([]byte, []Action, error) {
	now := t.log.now().UnixMilli()
	info := &CommitInfo{
		Timestamp: now, Operation: op.Name, OperationParameters: Parameters(op.Parameters), IsolationLevel: "Serializable",
		OperationMetrics: op.Metrics, UserMetadata: op.UserMetadata, EngineInfo: EngineInfo, TxnID: id,
	}
	if info.OperationParameters == nil {
		info.OperationParameters = Parameters{}
	}
	blind := op.Blind
	info.IsBlindAppend = &blind
	if t.read != nil {
		v := t.read.Version
		info.ReadVersion = &v
	}
	if m := t.Metadata(); m != nil && m.Configuration[propInCommitTime] == "true" {
		info.InCommitTimestamp = &now
	}
	actions := []Action{{CommitInfo: info}}
	if t.metadata != nil {
		actions = append(actions, Action{Metadata: t.metadata})
	}
	if t.protocol != nil {
		actions = append(actions, Action{Protocol: t.protocol})
	}
	for i := range t.txns {
		actions = append(actions, Action{Txn: &t.txns[i]})
	}
	actions = append(actions, t.actions...)
	b, err := formatCommit(actions)
	return b, actions, err
}

// conflict tells whether a commit that came first changes something that the transaction builds on.
func (t *Transaction) conflict(version int64, theirs []Action) error {
	commit := fmt.Sprintf("Conflicting commit: version %d", version)
	for _, a := range theirs {
		if a.CommitInfo != nil {
			commit += fmt.Sprintf(", %s by %s", a.CommitInfo.Operation, a.CommitInfo.EngineInfo)
		}
	}
	commit += "."
	for _, a := range theirs {
		switch {
		case a.Protocol != nil:
			if t.protocol != nil || t.read == nil {
				return errclass.New("DELTA_PROTOCOL_CHANGED", "conflictingCommit", commit)
			}
			if err := a.Protocol.CheckWrite(t.log.name(), t.Metadata()); err != nil {
				return err
			}
		case a.Metadata != nil:
			return errclass.New("DELTA_METADATA_CHANGED", "conflictingCommit", commit)
		case a.Txn != nil:
			for _, own := range t.txns {
				if own.AppID == a.Txn.AppID {
					return errclass.New("DELTA_CONCURRENT_TRANSACTION", "conflictingCommit", commit)
				}
			}
		case a.Add != nil:
			if (a.Add.DataChange || t.keys[a.Add.Path]) && (t.whole || t.inside != nil && t.inside(a.Add)) {
				return errclass.New("DELTA_CONCURRENT_APPEND.WITHOUT_HINT", "conflictingCommit", commit)
			}
		case a.Remove != nil:
			if err := t.removed(a.Remove, commit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Transaction) removed(r *Remove, commit string) error {
	if t.whole || t.keys[r.Key()] || t.keys[r.Path] || t.inside != nil && t.inside(&Add{Path: r.Path, PartitionValues: r.PartitionValues, DataChange: true}) {
		for _, a := range t.actions {
			if a.Remove != nil && a.Remove.Path == r.Path && !t.whole && t.inside == nil {
				return errclass.New("DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT", "file", r.Path, "conflictingCommit", commit)
			}
		}
		return errclass.New("DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT", "file", r.Path, "conflictingCommit", commit)
	}
	return nil
}

// after makes the snapshot of the version that was committed, and its checkpoint when one is due. The commit stands whether that works or
// not.
func (t *Transaction) after(ctx context.Context, version int64, actions []Action) (*Snapshot, error) {
	var s *Snapshot
	var err error
	if t.read != nil && t.read.Version == version-1 {
		s = t.read.clone()
		s.apply(version, actions)
		s.Version = version
		err = s.complete()
	} else {
		s, err = t.log.Snapshot(ctx, version)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // others may have written on already; who needs the table reads it again
	}
	if version > 0 && version%s.Metadata.checkpointInterval() == 0 {
		if s.WriteCheckpoint(ctx) == nil {
			s.rebase()
		}
	}
	return s, nil
}

// rebase has a snapshot go on from its own checkpoint.
func (s *Snapshot) rebase() {
	s.base = &checkpointFiles{s.Version, []string{strings.TrimSuffix(commitName(s.Version), "json") + "checkpoint.parquet"}, 1}
	s.tail = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = nil
}

// Refused tells whether an error of Commit says that there is no such version: that of a conflict, or of a table that does not allow the
// change. Other errors may leave the version there.
func Refused(err error) bool {
	e, ok := errors.AsType[*errclass.Error](err)
	return ok && strings.HasPrefix(e.Class, "DELTA_")
}
