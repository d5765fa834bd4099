package decimal

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// value draws decimals of all sizes.
func value(t *rapid.T, name string) Int {
	digits := rapid.IntRange(0, 38).Draw(t, name+" digits")
	b := new(big.Int)
	for range digits {
		b.Mul(b, big.NewInt(10)).Add(b, big.NewInt(rapid.Int64Range(0, 9).Draw(t, name)))
	}
	if rapid.Bool().Draw(t, name+" negative") {
		b.Neg(b)
	}
	x, ok := FromBig(b)
	if !ok {
		t.Fatalf("%s does not fit", b)
	}
	return x
}

// round is n/d rounded half away from zero.
func round(n, d *big.Int) *big.Int {
	twice := new(big.Int).Lsh(new(big.Int).Abs(n), 1)
	q := twice.Add(twice, new(big.Int).Abs(d))
	q.Quo(q, new(big.Int).Lsh(new(big.Int).Abs(d), 1))
	if n.Sign()*d.Sign() < 0 {
		q.Neg(q)
	}
	return q
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func check(t *rapid.T, what string, got Int, ok bool, want *big.Int, precision int) {
	fits := want.CmpAbs(tenTo(precision)) < 0
	if ok != fits || ok && Big(got).Cmp(want) != 0 {
		t.Fatalf("%s: got %s %v, want %s %v", what, Big(got), ok, want, fits)
	}
}

func TestArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := value(t, "x"), value(t, "y")
		sx, sy := rapid.IntRange(0, 38).Draw(t, "sx"), rapid.IntRange(0, 38).Draw(t, "sy")
		s := rapid.IntRange(0, max(sx, sy)).Draw(t, "s")
		bx, by := Big(x), Big(y)
		top := max(sx, sy)
		ax, ay := new(big.Int).Mul(bx, tenTo(top-sx)), new(big.Int).Mul(by, tenTo(top-sy))

		if back, ok := FromBig(bx); !ok || back != x {
			t.Fatalf("%s is read back as %s", bx, Big(back))
		}
		if Cmp(x, y) != bx.Cmp(by) || Sign(x) != bx.Sign() {
			t.Fatalf("order of %s and %s", bx, by)
		}
		sum, ok := AddScaled(x, sx, y, sy, s, 38)
		check(t, "sum", sum, ok, round(new(big.Int).Add(ax, ay), tenTo(top-s)), 38)
		drop := rapid.IntRange(0, 40).Draw(t, "drop")
		product, ok := Mul(x, y, drop, 38)
		check(t, "product", product, ok, round(new(big.Int).Mul(bx, by), tenTo(drop)), 38)
		to := rapid.IntRange(0, 38).Draw(t, "to")
		scaled, ok := Rescale(x, sx, to, 38)
		check(t, "rescaled", scaled, ok, round(new(big.Int).Mul(bx, tenTo(to)), tenTo(sx)), 38)
		if y == (Int{}) {
			return
		}
		raise := rapid.IntRange(-20, 40).Draw(t, "raise")
		n, d := new(big.Int).Set(bx), new(big.Int).Set(by)
		if raise >= 0 {
			n.Mul(n, tenTo(raise))
		} else {
			d.Mul(d, tenTo(-raise))
		}
		quotient, ok := Div(x, y, raise, 38)
		check(t, "quotient", quotient, ok, round(n, d), 38)
		q, r := QuoRem(x, y)
		wantQ, wantR := new(big.Int).QuoRem(bx, by, new(big.Int))
		if Big(q).Cmp(wantQ) != 0 || Big(r).Cmp(wantR) != 0 {
			t.Fatalf("%s / %s: %s rest %s, want %s rest %s", bx, by, Big(q), Big(r), wantQ, wantR)
		}
		rem, ok := Rem(x, sx, y, sy, top, 38)
		check(t, "remainder", rem, ok, new(big.Int).Rem(ax, ay), 38)
		if whole, ok := IntQuo(x, sx, y, sy); ok && Big(whole).Cmp(new(big.Int).Quo(ax, ay)) != 0 {
			t.Fatalf("integer quotient %s", Big(whole))
		}
	})
}

func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, s := value(t, "x"), rapid.IntRange(0, 38).Draw(t, "scale")
		text := Append(nil, x, s)
		if back, st := Parse(text, 38, s); st != OK || back != x {
			t.Fatalf("%s is read back as %s: %d", text, Big(back), st)
		}
		if want, ok := new(big.Rat).SetString(string(text)); !ok || want.Cmp(new(big.Rat).SetFrac(Big(x), tenTo(s))) != 0 {
			t.Fatalf("%s is not %s / 10^%d", text, Big(x), s)
		}
		if back, ok := FromBytes(Bytes(x)); !ok || back != x {
			t.Fatalf("bytes of %s", text)
		}
		want, _ := new(big.Rat).SetFrac(Big(x), tenTo(s)).Float64()
		if got := Float64(x, s); got != want {
			t.Fatalf("%s as a float is %v, want %v", text, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("12.345e2", 10, 2)
	f.Add("-.5", 38, 38)
	f.Add("123456789012345678901234567890123456789.5", 38, 0)
	f.Fuzz(func(t *testing.T, s string, precision, scale int) {
		if precision < 1 || precision > 38 || scale < 0 || scale > precision {
			return
		}
		x, st := Parse([]byte(s), precision, scale)
		if st == OK && !Fits(x, precision) {
			t.Errorf("%q gives %s, which does not fit", s, String(x, scale))
		}
	})
}

func BenchmarkMulDiv(b *testing.B) {
	x, _ := FromBig(tenTo(25))
	y := FromInt64(123456789)
	for b.Loop() {
		p, _ := Mul(x, y, 10, 38)
		Div(p, y, 10, 38)
	}
}
