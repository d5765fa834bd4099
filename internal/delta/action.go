package delta

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/millrace/millrace/types"
)

// Action is one line of a commit: exactly one of the fields is set.
type Action struct {
	CommitInfo *CommitInfo `json:"commitInfo,omitempty"`
	Metadata   *Metadata   `json:"metaData,omitempty"`
	Protocol   *Protocol   `json:"protocol,omitempty"`
	Txn        *Txn        `json:"txn,omitempty"`
	Add        *Add        `json:"add,omitempty"`
	Remove     *Remove     `json:"remove,omitempty"`
	CDC        *CDC        `json:"cdc,omitempty"`
	Domain     *Domain     `json:"domainMetadata,omitempty"`
	Sidecar    *Sidecar    `json:"sidecar,omitempty"` // in checkpoints only
}

// CommitInfo tells who has made a commit, and what for.
type CommitInfo struct {
	// InCommitTimestamp is the time of the version where the table has that feature.
	InCommitTimestamp   *int64     `json:"inCommitTimestamp,omitempty"`
	Timestamp           int64      `json:"timestamp"`
	Operation           string     `json:"operation"`
	OperationParameters Parameters `json:"operationParameters"`
	ReadVersion         *int64     `json:"readVersion,omitempty"`
	IsolationLevel      string     `json:"isolationLevel,omitempty"`
	IsBlindAppend       *bool      `json:"isBlindAppend,omitempty"`
	OperationMetrics    Parameters `json:"operationMetrics,omitempty"`
	UserMetadata        *string    `json:"userMetadata,omitempty"`
	EngineInfo          string     `json:"engineInfo,omitempty"`
	TxnID               string     `json:"txnId,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. What other writers tell of themselves has no fixed form, and must not keep the table from being
// read.
func (c *CommitInfo) UnmarshalJSON(b []byte) error {
	type plain CommitInfo
	if json.Unmarshal(b, (*plain)(c)) != nil {
		*c = CommitInfo{OperationParameters: Parameters{}}
	}
	return nil
}

// Parameters are those of an operation, or its metrics. Other writers put all kinds of JSON there; what is no text is kept as JSON text.
type Parameters map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (p *Parameters) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*p = Parameters{}
	for k, v := range raw {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		(*p)[k] = s
	}
	return nil
}

// Metadata is what a table looks like.
type Metadata struct {
	ID               string            `json:"id"`
	Name             *string           `json:"name,omitempty"`
	Description      *string           `json:"description,omitempty"`
	Format           FileFormat        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      *int64            `json:"createdTime,omitempty"`
}

// FileFormat is the format of data files, which is always Parquet.
type FileFormat struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// Schema reads the columns of the table.
func (m *Metadata) Schema() (types.StructType, error) {
	t, err := types.ParseJSON([]byte(m.SchemaString))
	if err != nil {
		return types.StructType{}, err
	}
	s, ok := t.(types.StructType)
	if !ok {
		return s, fmt.Errorf("the schema is a %s", t.TypeName())
	}
	return s, nil
}

// Clone gives a copy that can be changed.
func (m *Metadata) Clone() *Metadata {
	c := *m
	c.PartitionColumns = append([]string{}, m.PartitionColumns...)
	c.Configuration = map[string]string{}
	for k, v := range m.Configuration {
		c.Configuration[k] = v
	}
	return &c
}

// Txn is how far an application has come.
type Txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated *int64 `json:"lastUpdated,omitempty"`
}

// Add makes a file part of the table.
type Add struct {
	Path             string             `json:"path"`
	PartitionValues  map[string]*string `json:"partitionValues"`
	Size             int64              `json:"size"`
	ModificationTime int64              `json:"modificationTime"`
	DataChange       bool               `json:"dataChange"`
	Stats            string             `json:"stats,omitempty"`
	Tags             map[string]*string `json:"tags,omitempty"`
	DeletionVector   *DeletionVector    `json:"deletionVector,omitempty"`
	BaseRowID        *int64             `json:"baseRowId,omitempty"`
	DefaultRowCommit *int64             `json:"defaultRowCommitVersion,omitempty"`
	ClusteringBy     *string            `json:"clusteringProvider,omitempty"`
}

// Key tells the file from others: a file with other deleted rows is another one.
func (a *Add) Key() string { return fileKey(a.Path, a.DeletionVector) }

// Remove takes a file out of the table.
type Remove struct {
	Path                 string             `json:"path"`
	DeletionTimestamp    *int64             `json:"deletionTimestamp,omitempty"`
	DataChange           bool               `json:"dataChange"`
	ExtendedFileMetadata *bool              `json:"extendedFileMetadata,omitempty"`
	PartitionValues      map[string]*string `json:"partitionValues,omitempty"`
	Size                 *int64             `json:"size,omitempty"`
	DeletionVector       *DeletionVector    `json:"deletionVector,omitempty"`
	BaseRowID            *int64             `json:"baseRowId,omitempty"`
	DefaultRowCommit     *int64             `json:"defaultRowCommitVersion,omitempty"`
}

// Key is that of the Add that the action takes back.
func (r *Remove) Key() string { return fileKey(r.Path, r.DeletionVector) }

// removeOf takes back an Add.
func removeOf(a *Add, at int64, dataChange bool) *Remove {
	yes, size := true, a.Size
	values := a.PartitionValues
	if values == nil {
		values = map[string]*string{}
	}
	return &Remove{
		Path: a.Path, DeletionTimestamp: &at, DataChange: dataChange, ExtendedFileMetadata: &yes, PartitionValues: values, Size: &size,
		DeletionVector: a.DeletionVector, BaseRowID: a.BaseRowID, DefaultRowCommit: a.DefaultRowCommit,
	}
}

func fileKey(path string, dv *DeletionVector) string {
	if dv == nil {
		return path
	}
	return path + "\x00" + dv.id()
}

// DeletionVector names the rows of a file that are deleted.
type DeletionVector struct {
	StorageType    string `json:"storageType"`
	PathOrInlineDv string `json:"pathOrInlineDv"`
	Offset         *int32 `json:"offset,omitempty"`
	SizeInBytes    int32  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"`
	MaxRowIndex    *int64 `json:"maxRowIndex,omitempty"`
}

func (d *DeletionVector) id() string {
	id := d.StorageType + d.PathOrInlineDv
	if d.Offset != nil {
		id += fmt.Sprintf("@%d", *d.Offset)
	}
	return id
}

// CDC names a file with the changes of a version.
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	DataChange      bool               `json:"dataChange"`
}

// Domain is metadata of some feature.
type Domain struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}

// Sidecar names a file with file actions of a checkpoint.
type Sidecar struct {
	Path string `json:"path"`
}

// parseCommit reads the lines of a commit. Actions and fields that are not known are passed over: what they mean is told by the protocol.
func parseCommit(content []byte) ([]Action, error) {
	var out []Action
	for len(content) > 0 {
		line, rest, _ := bytes.Cut(content, []byte{'\n'})
		content = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var a Action
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// formatCommit writes actions as lines.
func formatCommit(actions []Action) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, a := range actions {
		if err := e.Encode(a); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// JSONList is a list of texts as operation parameters have it.
func JSONList(items []string) string {
	if items == nil {
		items = []string{}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(items); err != nil {
		return "[]"
	}
	return strings.TrimSpace(b.String())
}

// JSONMap is a map of texts as operation parameters have it.
func JSONMap(m map[string]string) string {
	if m == nil {
		m = map[string]string{}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return "{}"
	}
	return string(b)
}
