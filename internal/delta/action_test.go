package delta

import "testing"

// Other writers put all kinds of JSON where Delta Lake has texts, add actions and fields, and leave blank lines.
func TestForeignCommits(t *testing.T) {
	for _, text := range []string{
		`{"commitInfo":{"timestamp":1,"operation":"WRITE","operationParameters":{"mode":"Append","n":1},"operationMetrics":{"num_added_files":1,"times":[1.5]}}}`,
		`{"commitInfo":{"timestamp":"yesterday","operation":7,"clientVersion":"x"}}`,
		`{"commitInfo":null}` + "\n\n" + `{"fromTheFuture":{"a":1}}`,
		`{"add":{"path":"x","partitionValues":{"p":null},"size":1,"modificationTime":2,"dataChange":true,"more":[1]}}`,
	} {
		if _, err := parseCommit([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	actions, err := parseCommit([]byte(`{"commitInfo":{"operation":"WRITE","operationMetrics":{"num_added_files":1}}}`))
	if err != nil || actions[0].CommitInfo.OperationMetrics["num_added_files"] != "1" {
		t.Errorf("%+v %v", actions, err)
	}
	for _, text := range []string{"no JSON", `{"add":{"path":1}}`, `{"add":`} {
		if _, err := parseCommit([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
