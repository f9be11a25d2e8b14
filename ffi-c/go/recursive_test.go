package linegate

import (
	"errors"
	"strings"
	"testing"
)

type (
	itselfSlice   []itselfSlice
	itselfPointer *itselfPointer
	itselfBoth    *[]itselfBoth
	itselfDeep    [][]*itselfDeep
	mutualOne     []mutualTwo
	mutualTwo     *mutualThree
	mutualThree   []*mutualOne
	throughStruct struct{ A []throughOther }
	throughOther  struct{ B *throughStruct }
	namedStruct   []struct{ A namedStruct }
	unread        struct{ A unreadSlice }
	unreadSlice   []unreadSlice
)

// It reads itself, so nobody looks into it.
func (u *unreadSlice) UnmarshalJSON([]byte) error { return nil }

// A type that has itself in it, by whichever way, is an error.
func TestTypesThatHoldThemselves(t *testing.T) {
	gate := gateOf(t, Options{})
	for name, err := range map[string]error{
		"a slice":            fitsNot[struct{ A itselfSlice }](t, gate),
		"a slice, optional":  fitsNot[struct{ A *itselfSlice }](t, gate),
		"a pointer":          fitsNot[struct{ A itselfPointer }](t, gate),
		"both":               fitsNot[struct{ A itselfBoth }](t, gate),
		"deep":               fitsNot[struct{ A itselfDeep }](t, gate),
		"mutual":             fitsNot[struct{ A mutualOne }](t, gate),
		"mutual, the second": fitsNot[struct{ A mutualTwo }](t, gate),
		"mutual, the third":  fitsNot[struct{ A mutualThree }](t, gate),
		"through a struct":   fitsNot[throughStruct](t, gate),
		"through another":    fitsNot[struct{ A throughOther }](t, gate),
		"a slice of structs": fitsNot[struct{ A namedStruct }](t, gate),
	} {
		if err == nil || errors.Is(err, Arguments) || !strings.Contains(err.Error(), "holds itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Twice, but not within each other.
	type leaf []int
	if got, err := fits[struct {
		A, B leaf
		C    []leaf
		D    []struct{ A leaf }
	}](t, gate, `{"A":[1],"B":[2],"C":[[3]],"D":[{"A":[4]}]}`); err != nil || got.D[0].A[0] != 4 {
		t.Error(got, err)
	}
	if _, err := fits[unread](t, gate, `{"A":[[]]}`); err != nil {
		t.Error(err)
	}
}
