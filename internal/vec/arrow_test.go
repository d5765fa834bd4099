package vec

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/types"
)

var _ = types.Long

func TestArrowRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { _ = t })
}
