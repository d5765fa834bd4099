package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Fits compares a stored state with what the query would keep. The error says in words what is different.
func Fits(spec Spec, h Header) error {
	keys, values := typeTexts(spec.Keys), typeTexts(spec.Values)
	class, stored, now := "", "", ""
	switch {
	case h.Kind != spec.kind:
		class, stored, now = "MEANING", kindText(h.Kind), kindText(spec.kind)
	case !slices.Equal(keys, h.Keys):
		return misfit("KEY_SCHEMA", spec, "storedKeySchema", strings.Join(h.Keys, ", "), "newKeySchema", strings.Join(keys, ", "),
			"difference", keysDiffer(spec, h))
	case !slices.Equal(values, h.Values):
		return misfit("VALUE_SCHEMA", spec, "storedValueSchema", strings.Join(h.Values, ", "), "newValueSchema", strings.Join(values, ", "),
			"difference", valuesDiffer(spec, h), "way", wayOut(spec, h))
	case h.Meaning != spec.Meaning:
		class, stored, now = "MEANING", h.Meaning, spec.Meaning
	default:
		return nil
	}
	return misfit(class, spec, "stored", stored, "new", now, "difference", meaningsDiffer(spec, h), "way", wayOut(spec, h))
}

func misfit(class string, spec Spec, params ...string) error {
	return errclass.New("STATE_STORE_"+class+"_NOT_COMPATIBLE", append(params, "operator", fmt.Sprintf("%d (%s)", spec.Operator, spec.Name))...)
}

// wayOut is what can be done besides going back.
func wayOut(spec Spec, h Header) string {
	if len(spec.Parts) > 0 && len(h.Parts) > 0 && slices.Equal(typeTexts(spec.Keys), h.Keys) && Grouping(spec.Meaning) == Grouping(h.Meaning) {
		return ", or set " + AllowAddedKey + "=true, with which aggregates that are new start empty for the groups that there are and removed ones are forgotten"
	}
	return ""
}

// AllowAddedKey is the setting by which aggregates may be added to a stored state and taken away.
const AllowAddedKey = "spark.millrace.streaming.state.allowAddedAggregates"

// Grouping is the part of a meaning before its aggregates.
func Grouping(meaning string) string {
	if at := strings.Index(meaning, ": "); at >= 0 {
		return meaning[:at]
	}
	return meaning
}

// keysDiffer says which key column is another one.
func keysDiffer(spec Spec, h Header) string {
	text := columnsDiffer("key column", typeTexts(spec.Keys), h.Keys)
	if was, is := Grouping(h.Meaning), Grouping(spec.Meaning); was != is && was != "" && is != "" {
		text += fmt.Sprintf(" (it was %q and is %q)", was, is)
	}
	return text
}

// valuesDiffer says which aggregates, or else which column, there were and are.
func valuesDiffer(spec Spec, h Header) string {
	if len(spec.Parts) > 0 && len(h.Parts) > 0 {
		if text := partsDiffer(spec.Parts, h.Parts); text != "" {
			return text
		}
	}
	text := columnsDiffer("value column", typeTexts(spec.Values), h.Values)
	if h.Meaning != spec.Meaning {
		text += fmt.Sprintf(" (it was %q and is %q)", h.Meaning, spec.Meaning)
	}
	return text
}

func meaningsDiffer(spec Spec, h Header) string {
	was, is := Grouping(h.Meaning), Grouping(spec.Meaning)
	if was != is {
		return fmt.Sprintf("it was %q and is %q", was, is)
	}
	if text := partsDiffer(spec.Parts, h.Parts); text != "" && len(h.Parts) > 0 {
		return text
	}
	return "its aggregates are others, or come in another order"
}

// partsDiffer lists what is gone and what is new; nothing if only the order is another one.
func partsDiffer(is, was []Part) string {
	count := map[string]int{}
	for _, p := range was {
		count[p.Text]++
	}
	var added, gone []string
	for _, p := range is {
		if count[p.Text]--; count[p.Text] < 0 {
			added = append(added, p.Text)
		}
	}
	for _, p := range was {
		if count[p.Text] > 0 {
			count[p.Text]--
			gone = append(gone, p.Text)
		}
	}
	var out []string
	if len(added) > 0 {
		out = append(out, strings.Join(added, ", ")+" is new")
	}
	if len(gone) > 0 {
		out = append(out, strings.Join(gone, ", ")+" is gone")
	}
	return strings.Join(out, "; ")
}

func columnsDiffer(what string, is, was []string) string {
	for i := range max(len(is), len(was)) {
		switch {
		case i >= len(was):
			return fmt.Sprintf("%s %d, %s, is new", what, i+1, is[i])
		case i >= len(is):
			return fmt.Sprintf("%s %d, %s, is gone", what, i+1, was[i])
		case is[i] != was[i]:
			return fmt.Sprintf("%s %d was %s and is %s", what, i+1, was[i], is[i])
		}
	}
	return "they are the same"
}

// FieldsOf are columns as a header names them.
func FieldsOf(texts []string) ([]types.Field, error) { return fieldsOf(texts) }

// Carry says where the value columns of a state come from when the state was stored with other aggregates: for each the number of the
// stored column, or -1 for one that starts empty. ok is false when the two are not that much alike.
func Carry(spec Spec, h Header) (from []int, ok bool) {
	if len(spec.Parts) == 0 || len(h.Parts) == 0 || !slices.Equal(typeTexts(spec.Keys), h.Keys) || Grouping(spec.Meaning) != Grouping(h.Meaning) {
		return nil, false
	}
	head, was := len(spec.Values)-columnsOf(spec.Parts), len(h.Values)-columnsOf(h.Parts)
	if head != was || head < 0 {
		return nil, false
	}
	for i := range head {
		from = append(from, i)
	}
	used := make([]bool, len(h.Parts))
	values := typeTexts(spec.Values)
	for _, p := range spec.Parts {
		at, found := head, -1
		for i, q := range h.Parts {
			if !used[i] && q.Text == p.Text && q.Columns == p.Columns && slices.Equal(h.Values[at:at+q.Columns], values[len(from):len(from)+p.Columns]) {
				found, used[i] = at, true
				break
			}
			at += q.Columns
		}
		for c := range p.Columns {
			if found < 0 {
				from = append(from, -1)
			} else {
				from = append(from, found+c)
			}
		}
	}
	return from, true
}

func columnsOf(parts []Part) int {
	n := 0
	for _, p := range parts {
		n += p.Columns
	}
	return n
}
