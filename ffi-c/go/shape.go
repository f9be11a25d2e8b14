package linegate

// #include "bridge.h"
import "C"

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unsafe"
)

// A shape is a struct type as rows of the library, in C memory. encoding/json alone wouldn't do: it takes a member in another case
// for the field, and lacks no member.
type shape struct {
	rows *C.linegate_member
	len  C.size_t
}

// A verdict on a type: its shape, or why it has none.
type verdict struct {
	shape shape
	err   error
}

// shapes are the verdicts on types that were asked for; there are as many as the program has types, and they stay.
var shapes sync.Map

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	number          = reflect.TypeFor[json.Number]()
)

// shapeOf gives the rows of a struct type. An error says which type in it has none.
func shapeOf(of reflect.Type) (shape, error) {
	said, ok := shapes.Load(of)
	if !ok {
		made, err := newShape(of, nil)
		if err != nil {
			made, err = shape{}, fmt.Errorf("linegate: %s: %w", of, err)
		}
		said, _ = shapes.LoadOrStore(of, verdict{made, err})
	}
	return said.(verdict).shape, said.(verdict).err
}

// enter adds a type to those that a member lies within. No type lies within itself: looking into it would never end.
func enter(of reflect.Type, within []reflect.Type) ([]reflect.Type, error) {
	if slices.Contains(within, of) {
		return nil, fmt.Errorf("%s holds itself", of)
	}
	return append(slices.Clip(within), of), nil
}

func newShape(of reflect.Type, within []reflect.Type) (shape, error) {
	if of.Kind() != reflect.Struct {
		return shape{}, fmt.Errorf("%s is no struct", of)
	}
	if pointer := reflect.PointerTo(of); len(within) == 0 && (pointer.Implements(unmarshaler) || pointer.Implements(textUnmarshaler)) {
		return shape{}, fmt.Errorf("%s reads itself", of)
	}
	within, err := enter(of, within)
	if err != nil {
		return shape{}, err
	}
	var rows []C.linegate_member
	names := map[string]string{}
	for at := range of.NumField() {
		field := of.Field(at)
		tag, tagged := field.Tag.Lookup("json")
		name, flags, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
			continue
		case field.Anonymous:
			return shape{}, fmt.Errorf("%s is embedded: its members need a name", field.Name)
		case !field.IsExported() && tagged:
			return shape{}, fmt.Errorf("%s has a name in JSON, but isn't exported", field.Name)
		case !field.IsExported():
			continue
		case !tagged && spoilt(field.Tag), !readable(name):
			return shape{}, fmt.Errorf("%s: encoding/json doesn't read its tag `%s`", field.Name, field.Tag)
		case name == "":
			name = field.Name
		}
		if strings.EqualFold(name, "_meta") && name != "_meta" {
			return shape{}, fmt.Errorf("%s: encoding/json takes _meta for it", field.Name)
		}
		if other, taken := names[name]; taken {
			return shape{}, fmt.Errorf("%s and %s are both %q", other, field.Name, name)
		}
		names[name] = field.Name
		row, err := rowOf(field.Type, within)
		if err != nil {
			return shape{}, fmt.Errorf("%s: %w", field.Name, err)
		}
		for flag := range strings.SplitSeq(flags, ",") {
			switch flag {
			case "omitempty", "omitzero":
				row.optional = 1
			case "string":
				return shape{}, fmt.Errorf("%s: a number in a string", field.Name)
			}
		}
		row.name = C.CString(name)
		rows = append(rows, row)
	}
	return inC(rows), nil
}

// wellFormed is a tag that reflect reads to its end.
var wellFormed = regexp.MustCompile(`^( *[^ ",:\x00-\x1f\x7f]+:"(\\.|[^"\\])*")* *$`)

// spoilt says whether a tag without a name for JSON looks as if it had one.
func spoilt(tag reflect.StructTag) bool {
	return strings.Contains(string(tag), "json") && !wellFormed.MatchString(string(tag))
}

// readable says whether encoding/json takes a name in a tag; another it leaves out without a word.
func readable(name string) bool {
	for _, char := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", char) && !unicode.IsLetter(char) && !unicode.IsDigit(char) {
			return false
		}
	}
	return true
}

// inC copies rows to C memory. A struct without members is a pointer all the same, for NULL would be any.
func inC(rows []C.linegate_member) shape {
	first := (*C.linegate_member)(C.calloc(C.size_t(len(rows)+1), C.size_t(unsafe.Sizeof(C.linegate_member{}))))
	copy(unsafe.Slice(first, len(rows)), rows)
	return shape{rows: first, len: C.size_t(len(rows))}
}

// rowOf gives the row of a type, without its name.
func rowOf(of reflect.Type, within []reflect.Type) (C.linegate_member, error) {
	row := C.linegate_member{size: C.size_t(unsafe.Sizeof(C.linegate_member{}))}
	pointer := reflect.PointerTo(of)
	switch {
	case of.Kind() == reflect.Pointer:
		within, err := enter(of, within)
		if err != nil {
			return row, err
		}
		row, err := rowOf(of.Elem(), within)
		row.optional = 1
		return row, err
	case of == number:
		// It would take a string as well.
		row._type = C.LINEGATE_TYPE_NUMBER
		return row, nil
	case pointer.Implements(unmarshaler):
		// It reads any value itself.
		return row, nil
	case pointer.Implements(textUnmarshaler):
		row._type = C.LINEGATE_TYPE_STRING
		return row, nil
	}
	switch of.Kind() {
	case reflect.Bool:
		row._type = C.LINEGATE_TYPE_BOOLEAN
	case reflect.String:
		row._type = C.LINEGATE_TYPE_STRING
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		row._type = C.LINEGATE_TYPE_INTEGER
		row.max = C.int64_t(1)<<(of.Bits()-1) - 1
		row.min = -row.max - 1
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		row._type = C.LINEGATE_TYPE_INTEGER
		row.max = math.MaxInt64
		if of.Bits() < 64 {
			row.max = C.int64_t(1)<<of.Bits() - 1
		}
	case reflect.Float32, reflect.Float64:
		row._type = C.LINEGATE_TYPE_NUMBER
	case reflect.Struct:
		inner, err := newShape(of, within)
		row._type, row.members, row.members_len = C.LINEGATE_TYPE_OBJECT, inner.rows, inner.len
		return row, err
	case reflect.Array:
		return row, fmt.Errorf("%s has a length, of which encoding/json reads more and less: take a slice", of)
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return row, fmt.Errorf("%s is bytes: take a string", of)
		}
		within, err := enter(of, within)
		if err != nil {
			return row, err
		}
		element, err := rowOf(of.Elem(), within)
		row._type = C.LINEGATE_TYPE_ARRAY
		inner := inC([]C.linegate_member{element})
		row.members, row.members_len = inner.rows, inner.len
		return row, err
	default:
		return row, fmt.Errorf("%s can't be held to its members: take json.RawMessage", of)
	}
	return row, nil
}
