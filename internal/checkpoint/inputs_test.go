package checkpoint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInputWatermarks writes the watermarks of single inputs into entries of both logs, which otherwise keep Spark's bytes.
func TestInputWatermarks(t *testing.T) {
	c := Commit{NextBatchWatermarkMs: 7, InputWatermarksMs: []int64{0, -5, 9}}
	text, err := appendCommit(nil, c)
	if want := "v1\n{\"nextBatchWatermarkMs\":7,\"millraceInputWatermarksMs\":[0,-5,9]}"; err != nil || string(text) != want {
		t.Errorf("commit: %v\n%s", err, text)
	}
	if got, err := parseCommit(text); err != nil || !cmp.Equal(got, c) {
		t.Errorf("commit read: %v, %v", got, err)
	}
	o := OffsetSeq{Metadata: OffsetMetadata{BatchWatermarkMs: 1, BatchTimestampMs: 2, Conf: Conf{}, InputWatermarksMs: []int64{3}}}
	text, err = appendOffsets(nil, o)
	if want := "v1\n{\"batchWatermarkMs\":1,\"batchTimestampMs\":2,\"conf\":{},\"millraceInputWatermarksMs\":[3]}"; err != nil || string(text) != want {
		t.Errorf("offsets: %v\n%s", err, text)
	}
	if got, err := parseOffsets(text); err != nil || !cmp.Equal(got, o) {
		t.Errorf("offsets read: %v, %v", got, err)
	}
	if _, err := parseCommit([]byte("v1\n{\"millraceInputWatermarksMs\":\"x\"}")); err == nil {
		t.Error("a text was taken for watermarks")
	}
}
