package files

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/fs"
)

func writeFile(t testing.TB, path, content string) *File {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return &File{FS: fs.Local(), Path: path, Size: info.Size(), ModTime: info.ModTime()}
}

// readPiece gives the text of a piece.
func readPiece(t testing.TB, p Piece, opts TextOptions) string {
	t.Helper()
	l, err := OpenLines(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var b strings.Builder
	for {
		text, from, end, err := l.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if from >= end || len(text) < end+Pad {
			t.Fatalf("text of %d bytes, %d to %d", len(text), from, end)
		}
		b.Write(text[from:end])
	}
}

// lines splits a text as readers of lines do.
func lines(s string) []string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// However a file is cut, every line is read once, in the piece in which it begins.
func TestPiecesAreTheFile(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bc", "\n", "\r\n", "\r", "\n\n", "é", "long line of text"}), 0, 30).Draw(rt, "parts")
		content := strings.Join(parts, "")
		n++
		f := writeFile(t, filepath.Join(dir, "f"), content)
		var got []string
		var text strings.Builder
		for off := int64(0); off < f.Size; {
			size := min(rapid.Int64Range(1, 20).Draw(rt, "size"), f.Size-off)
			piece := readPiece(t, Piece{f, off, size}, TextOptions{})
			text.WriteString(piece)
			got = append(got, lines(piece)...)
			off += size
		}
		if text.String() != content {
			rt.Fatalf("pieces give %q, want %q", text.String(), content)
		}
		if want := lines(content); strings.Join(got, "|") != strings.Join(want, "|") {
			rt.Fatalf("lines %q, want %q", got, want)
		}
	})
}

func TestLongLines(t *testing.T) {
	content := strings.Repeat("x", 3*chunkBytes) + "\n" + strings.Repeat("y", chunkBytes-1) + "\r\n" + strings.Repeat("z\r", 10) + strings.Repeat("w", 2*chunkBytes)
	f := writeFile(t, filepath.Join(t.TempDir(), "f"), content)
	if got := readPiece(t, Piece{f, 0, f.Size}, TextOptions{}); got != content {
		t.Errorf("the whole file gives %d bytes, want %d", len(got), len(content))
	}
	var got strings.Builder
	const cut = 1<<20 + 7
	for off := int64(0); off < f.Size; off += cut {
		got.WriteString(readPiece(t, Piece{f, off, min(cut, f.Size-off)}, TextOptions{}))
	}
	if got.String() != content {
		t.Errorf("pieces give %d bytes, want %d", got.Len(), len(content))
	}
}

func TestSeparator(t *testing.T) {
	f := writeFile(t, filepath.Join(t.TempDir(), "f"), "a|b\n|c")
	for off := int64(1); off < f.Size; off++ {
		got := readPiece(t, Piece{f, 0, off}, TextOptions{Sep: "|"}) + "/" + readPiece(t, Piece{f, off, f.Size - off}, TextOptions{Sep: "|"})
		if strings.Replace(got, "/", "", 1) != "a|b\n|c" {
			t.Errorf("cut at %d: %q", off, got)
		}
	}
}

func TestEncodings(t *testing.T) {
	const text = "{\"a\":\"é\"}\nzwei\n"
	encoded := func(e unicode.Endianness, bom unicode.BOMPolicy) string {
		s, err := unicode.UTF16(e, bom).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		content string
		opts    TextOptions
	}{
		"plain":        {text, TextOptions{}},
		"UTF-8 mark":   {"\uFEFF" + text, TextOptions{}},
		"UTF-16 mark":  {encoded(unicode.LittleEndian, unicode.UseBOM), TextOptions{}},
		"UTF-16 found": {encoded(unicode.BigEndian, unicode.IgnoreBOM), TextOptions{}},
		"UTF-16LE":     {encoded(unicode.LittleEndian, unicode.IgnoreBOM), TextOptions{Encoding: "utf-16le"}},
		"UTF-16":       {encoded(unicode.LittleEndian, unicode.UseBOM), TextOptions{Encoding: "UTF-16"}},
		"latin":        {"{\"a\":\"\xe9\"}\nzwei\n", TextOptions{Encoding: "ISO-8859-1"}},
	} {
		f := writeFile(t, filepath.Join(dir, name), tt.content)
		if got := readPiece(t, Piece{f, 0, f.Size}, tt.opts); got != text {
			t.Errorf("%s: lines give %q", name, got)
		}
		b, end, err := ReadText(f, tt.opts)
		if err != nil || string(b[:end]) != text || len(b) < end+Pad || !bytes.Equal(b[end:end+Pad], make([]byte, Pad)) {
			t.Errorf("%s: text %q, %v", name, b, err)
		}
	}
}

func TestCodecs(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("line of text that repeats\n", 20000)
	for _, name := range []string{"gzip", "deflate", "zstd", "snappy", "lz4", "bzip2", "org.apache.hadoop.io.compress.BZip2Codec"} {
		c, err := FindCodec(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		for _, part := range []string{text[:100000], text[100000:]} { // two members behind one another
			w, err := c.Writer(&b)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, part); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if name == "deflate" { // the format has no members
				break
			}
		}
		want := text
		if name == "deflate" {
			want = text[:100000]
		}
		f := writeFile(t, filepath.Join(dir, "f.txt"+c.Ext), b.String())
		if got := readPiece(t, Piece{f, 0, f.Size}, TextOptions{}); got != want {
			t.Errorf("%s: %d bytes read, want %d", name, len(got), len(want))
		}
		empty := writeFile(t, filepath.Join(dir, "e.txt"+c.Ext), "")
		if got := readPiece(t, Piece{empty, 0, 0}, TextOptions{}); got != "" {
			t.Errorf("%s: an empty file gives %q", name, got)
		}
		f = writeFile(t, filepath.Join(dir, "cut.txt"+c.Ext), b.String()[:b.Len()-3])
		l, err := OpenLines(Piece{f, 0, f.Size}, TextOptions{})
		for err == nil {
			_, _, _, err = l.Next()
		}
		if err == io.EOF {
			t.Errorf("%s: a file that is cut off gives no error", name)
		}
		if l != nil {
			l.Close()
		}
	}
	if _, err := FindCodec("nope"); err == nil {
		t.Error("there is a codec nope")
	}
}

// The files in testdata were written by Apache Spark 4.2.0 with each codec of the text formats: 60000 lines, one of ten, or 300 lines of
// which each is another.
func TestSparkCodecs(t *testing.T) {
	var repeated, other strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&repeated, "line %d\n", i%10)
	}
	for i := range 300 {
		fmt.Fprintf(&other, "line %d %x\n", i, md5.Sum(fmt.Append(nil, i)))
	}
	for ext, want := range map[string]string{
		"gz": repeated.String(), "deflate": repeated.String(), "lz4": repeated.String(), "snappy": repeated.String(), "bz2": other.String(),
	} {
		path := "testdata/text.txt." + ext
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		f := &File{FS: fs.Local(), Path: path, Size: info.Size()}
		if got := readPiece(t, Piece{f, 0, f.Size}, TextOptions{}); got != want {
			t.Errorf("%s: %d bytes, want %d", ext, len(got), len(want))
		}
	}
}
