package delta

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Protocol is what readers and writers of a table must know.
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

// The versions from which a protocol lists features one by one.
const (
	featureReader = 3
	featureWriter = 7
)

// The table features by name.
const (
	featAppendOnly    = "appendOnly"
	featInvariants    = "invariants"
	featChecks        = "checkConstraints"
	featCDF           = "changeDataFeed"
	featGenerated     = "generatedColumns"
	featMapping       = "columnMapping"
	featIdentity      = "identityColumns"
	featVectors       = "deletionVectors"
	featNTZ           = "timestampNtz"
	featRowTracking   = "rowTracking"
	featDomains       = "domainMetadata"
	featInCommitTime  = "inCommitTimestamp"
	featV2Checkpoint  = "v2Checkpoint"
	featTypeWidening  = "typeWidening"
	featVariant       = "variantType"
	featDefaults      = "allowColumnDefaults"
	featVacuumChecked = "vacuumProtocolCheck"
	featClustering    = "clustering"
)

// feature is what is known of a table feature.
type feature struct {
	// both tells that readers must know it as well.
	both bool
	// reads and writes tell whether this engine does what it asks for.
	reads, writes bool
	// since is the writer version that contains the feature; 0 for those that are only listed by name.
	since int
}

var features = map[string]feature{
	featAppendOnly:    {reads: true, writes: true, since: 2},
	featInvariants:    {reads: true, writes: true, since: 2},
	featChecks:        {reads: true, writes: true, since: 3},
	featCDF:           {reads: true, writes: true, since: 4},
	featGenerated:     {reads: true, writes: true, since: 4},
	featMapping:       {both: true, reads: true, writes: true, since: 5},
	featIdentity:      {reads: true, since: 6},
	featVectors:       {both: true, reads: true, writes: true},
	featNTZ:           {both: true, reads: true, writes: true},
	featRowTracking:   {reads: true},
	featDomains:       {reads: true, writes: true},
	featInCommitTime:  {reads: true, writes: true},
	featV2Checkpoint:  {both: true, reads: true, writes: true},
	featTypeWidening:  {both: true},
	featVariant:       {both: true, reads: true, writes: true},
	featDefaults:      {reads: true},
	featVacuumChecked: {both: true, reads: true, writes: true},
	featClustering:    {reads: true},
}

// inactive are the features of which a writer must know only when a table makes use of them: the versions of old protocols contain them
// all.
func (p *Protocol) inactive(name string, m *Metadata) bool {
	if p.MinWriterVersion >= featureWriter && m == nil {
		return false
	}
	switch name {
	case featIdentity:
		return !strings.Contains(m.SchemaString, "delta.identity.")
	case featDefaults:
		return !strings.Contains(m.SchemaString, "CURRENT_DEFAULT")
	case featRowTracking:
		return p.MinWriterVersion < featureWriter
	}
	return false
}

// Has tells whether a table's protocol contains a feature.
func (p *Protocol) Has(name string) bool {
	f := features[name]
	if p.MinWriterVersion >= featureWriter {
		return slices.Contains(p.WriterFeatures, name)
	}
	return f.since > 0 && p.MinWriterVersion >= f.since
}

// CheckRead refuses tables that cannot be read.
func (p *Protocol) CheckRead(table string) error {
	if err := p.checkVersions(table); err != nil {
		return err
	}
	var missing []string
	for _, name := range p.ReaderFeatures {
		if f, ok := features[name]; !ok || !f.reads {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return errclass.New("DELTA_UNSUPPORTED_FEATURES_FOR_READ", "tableName", table, "unsupported", strings.Join(missing, ", "))
	}
	return nil
}

func (p *Protocol) checkVersions(table string) error {
	if p.MinReaderVersion <= featureReader && p.MinWriterVersion <= featureWriter {
		return nil
	}
	return errclass.New("DELTA_INVALID_PROTOCOL_VERSION", "tableName", table,
		"readerRequired", strconv.Itoa(p.MinReaderVersion), "writerRequired", strconv.Itoa(p.MinWriterVersion),
		"supportedReaders", strconv.Itoa(featureReader), "supportedWriters", strconv.Itoa(featureWriter))
}

// CheckWrite refuses tables that cannot be written. m is what the table looks like.
func (p *Protocol) CheckWrite(table string, m *Metadata) error {
	if err := p.CheckRead(table); err != nil {
		return err
	}
	var missing []string
	check := func(name string) {
		f, ok := features[name]
		if (!ok || !f.writes) && !(ok && p.inactive(name, m)) {
			missing = append(missing, name)
		}
	}
	if p.MinWriterVersion >= featureWriter {
		for _, name := range p.WriterFeatures {
			check(name)
		}
	} else {
		for name, f := range features {
			if f.since > 0 && f.since <= p.MinWriterVersion {
				check(name)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return errclass.New("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", "tableName", table, "unsupported", strings.Join(missing, ", "))
	}
	return nil
}

// protocolFor gives the protocol that a table needs: what it has, and what its properties and types ask for.
func protocolFor(old *Protocol, m *Metadata, schema types.StructType) (Protocol, error) {
	p := Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	fresh := old == nil
	if !fresh {
		p = *old
		p.ReaderFeatures, p.WriterFeatures = slices.Clone(old.ReaderFeatures), slices.Clone(old.WriterFeatures)
	}
	var needs []string
	need := func(name string, when bool) {
		if when && !slices.Contains(needs, name) {
			needs = append(needs, name)
		}
	}
	conf := m.Configuration
	for k := range conf {
		if strings.HasPrefix(k, propCheck) {
			need(featChecks, true)
		}
	}
	need(featCDF, conf[propCDF] == "true")
	need(featMapping, conf[propMapping] != "" && conf[propMapping] != "none")
	need(featVectors, conf[propVectors] == "true")
	need(featRowTracking, conf[propRowTracking] == "true")
	need(featDomains, conf[propRowTracking] == "true")
	need(featInCommitTime, conf[propInCommitTime] == "true")
	need(featV2Checkpoint, conf[propCheckpointPolicy] == "v2")
	need(featTypeWidening, conf[propTypeWidening] == "true")
	need(featNTZ, types.Contains(schema, func(t types.DataType) bool { _, ok := t.(types.TimestampNTZType); return ok }))
	need(featVariant, types.Contains(schema, func(t types.DataType) bool { _, ok := t.(types.VariantType); return ok }))
	for _, f := range schema.Fields {
		if _, ok := f.MetadataValue(GenerationKey); ok {
			need(featGenerated, true)
		}
		if _, ok := f.MetadataValue("delta.identity.start"); ok {
			need(featIdentity, true)
		}
	}
	slices.Sort(needs)
	var unmet []string
	for _, name := range needs {
		if !p.Has(name) {
			unmet = append(unmet, name)
		}
	}
	if len(unmet) == 0 {
		return p, nil
	}
	// Checks alone came with a version of their own, which is enough for them.
	if len(unmet) == 1 && unmet[0] == featChecks && p.MinWriterVersion < featureWriter {
		p.MinWriterVersion = features[featChecks].since
		return p, nil
	}
	if p.MinWriterVersion < featureWriter {
		for _, name := range []string{featAppendOnly, featInvariants, featChecks, featCDF, featGenerated, featMapping, featIdentity} {
			if features[name].since <= p.MinWriterVersion {
				p.WriterFeatures = append(p.WriterFeatures, name)
			}
		}
		p.MinWriterVersion = featureWriter
	}
	for _, name := range unmet {
		p.WriterFeatures = append(p.WriterFeatures, name)
		if !features[name].both {
			continue
		}
		if name == featMapping && p.MinReaderVersion < featureReader {
			p.MinReaderVersion = 2
			continue
		}
		if p.MinReaderVersion < featureReader {
			if p.MinReaderVersion == 2 {
				p.ReaderFeatures = append(p.ReaderFeatures, featMapping)
			}
			p.MinReaderVersion = featureReader
		}
		p.ReaderFeatures = append(p.ReaderFeatures, name)
	}
	if p.MinReaderVersion == featureReader && slices.Contains(p.WriterFeatures, featMapping) && !slices.Contains(p.ReaderFeatures, featMapping) {
		p.ReaderFeatures = append(p.ReaderFeatures, featMapping)
	}
	return p, nil
}

// equalProtocol compares protocols.
func equalProtocol(a, b *Protocol) bool {
	return a.MinReaderVersion == b.MinReaderVersion && a.MinWriterVersion == b.MinWriterVersion &&
		slices.Equal(a.ReaderFeatures, b.ReaderFeatures) && slices.Equal(a.WriterFeatures, b.WriterFeatures)
}

// Features lists the names of all features that a protocol contains, as DESCRIBE DETAIL does.
func (p *Protocol) Features() []string {
	if p.MinWriterVersion >= featureWriter {
		out := slices.Clone(p.WriterFeatures)
		slices.Sort(out)
		return out
	}
	var out []string
	for name, f := range features {
		if f.since > 0 && f.since <= p.MinWriterVersion {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
