package kafka

import (
	"testing"

	"github.com/millrace/millrace/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
