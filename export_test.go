package millrace

// WithExact makes the engine in this process treat messages and records as if there were a wire.
func WithExact() ConnectOption { return func(o *connectOptions) { o.exact = true } }
