package xmlrow

import "bytes"

// cutLine takes the first line off a text.
func cutLine(text []byte) (line []byte, n int) {
	n = bytes.IndexByte(text, '\n')
	if n < 0 {
		return text, len(text)
	}
	return bytes.TrimSuffix(text[:n], []byte("\r")), n + 1
}

// Lines reads records, one a line, from text[from:end], until max rows are there. It returns where it stopped: at end, or where to go on.
func (r *Reader) Lines(text []byte, from, end, max int) (int, error) {
	for from < end && r.rows < max {
		line, n := cutLine(text[from:end])
		from += n
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.Record(line); err != nil {
			return from, err
		}
	}
	return from, nil
}

// Lines looks at the records of a text of lines.
func (inf *Inference) Lines(text []byte, end int) error {
	for from := 0; from < end; {
		line, n := cutLine(text[from:end])
		from += n
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := inf.Record(line); err != nil {
			return err
		}
	}
	return nil
}

// Done is never set: any record may have a column of its own.
func (inf *Inference) Done() bool { return false }
