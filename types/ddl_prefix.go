package types

// ParseTypePrefix reads the type that text starts with. n is where the token behind it starts, in bytes. The SQL parser uses it,
// so that there is one grammar of types.
func ParseTypePrefix(text string) (t DataType, n int, err error) {
	p := newParser(text)
	if t, err = p.dataType(0); err != nil {
		return nil, 0, err
	}
	return t, p.tok.start, nil
}
