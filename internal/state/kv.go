package state

// KVProvider keeps states that are ordered bytes.
type KVProvider interface {
	// OpenKV returns the store of one operator below dir, the checkpoint's state directory. Of the spec, Keys and Values say what the
	// keys begin with and are for people and for comparing; Time and Group are not used. Nothing is read yet.
	OpenKV(dir string, spec Spec) (KVStore, error)
}

// KVStore is the state of one operator as ordered bytes. It has Shards(spec.Partitions) of them, which may be used side by side, one
// goroutine each.
type KVStore interface {
	Versioned
	// KV is one shard. It is the same for the life of the store; cursors end with Prepare, Load and Abort.
	KV(shard int) KV
}

// HashBytes is how many bytes of each key are the partition hash of what the key belongs to, big-endian. They say in which shard a key is
// to be found: it is looked for there after a restart, whatever the number of partitions was.
const HashBytes = 4

// KV is one shard: values by key, in the order of the keys' bytes. It belongs to one goroutine at a time.
type KV interface {
	// Get returns the value of a key. It is valid until the next call of any method of the shard or its cursors.
	Get(key []byte) (value []byte, found bool, err error)
	// Put sets the value of a key. Both are copied.
	Put(key, value []byte) error
	// Delete removes a key, if it is there.
	Delete(key []byte) error
	// Scan goes through the keys from from on and below to, in order; a nil to is no bound. The cursor sees the shard as it is now,
	// uncommitted changes included, whatever is put and deleted while it is open.
	Scan(from, to []byte) (KVCursor, error)
}

// KVCursor goes through a range of keys. Several may be open.
type KVCursor interface {
	// Next returns the next key and value, valid until the next call of this cursor; ok is false at the end.
	Next() (key, value []byte, ok bool, err error)
	Close() error
}
