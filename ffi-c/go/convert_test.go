package linegate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// outside is a program of somebody else's, with a conversion in it.
const outside = `package main

import "linegate"

type (
	path  struct{ Path string ` + "`json:\"path\"`" + ` }
	force struct{ PATH string; Force bool }
	alike struct{ Path string ` + "`json:\"path\"`" + ` }
	label = struct{ Path string ` + "`json:\"path\"`" + ` }
	other = struct{ Path string ` + "`json:\"other\"`" + ` }
)

func main() {
	var (
		typed      linegate.Typed[path]
		authorized linegate.Authorized[path]
		labelled   linegate.Typed[label]
		allowed    linegate.Authorized[label]
	)
	_, _, _, _, _, _ = typed, authorized, labelled, allowed, force{}, alike{}`

// built is what the compiler says of all those conversions, a line each.
func built(t *testing.T, conversions []string) string {
	t.Helper()
	module, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module outside\n\ngo 1.24\n\nrequire linegate v0.0.0\n\nreplace linegate => " + strconv.Quote(module) + "\n",
		"main.go": outside + "\n\t_ = " + strings.Join(conversions, "\n\t_ = ") + "\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// All errors, not the first ten.
	build := exec.Command("go", "build", "-mod=mod", "-gcflags=-e", "-o", os.DevNull, ".")
	build.Dir = folder
	said, err := build.CombinedOutput()
	if (err == nil) != (len(said) == 0) {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}

// What was held to one type is never made that of another: no compiler takes the conversion, be the types ever so alike.
func TestNoConversionCompiles(t *testing.T) {
	if said := built(t, []string{"linegate.Typed[path](typed)", "linegate.Authorized[path](authorized)", "force(force{})"}); said != "" {
		t.Fatal(said)
	}
	refused := []string{
		"linegate.Typed[force](typed)",
		"linegate.Typed[alike](typed)",
		"(*linegate.Typed[force])(&typed)",
		"struct{ T linegate.Typed[force] }(struct{ T linegate.Typed[path] }{typed})",
		"linegate.Typed[other](labelled)",
		"linegate.Authorized[force](authorized)",
		"linegate.Authorized[alike](authorized)",
		"(*linegate.Authorized[alike])(&authorized)",
		"linegate.Authorized[other](allowed)",
		"linegate.Authorized[path](typed)",
		"linegate.Typed[path](authorized)",
	}
	said := built(t, refused)
	first := strings.Count(outside, "\n") + 2
	for at, conversion := range refused {
		if !strings.Contains(said, fmt.Sprintf("main.go:%d:", first+at)) {
			t.Errorf("it compiles: %s", conversion)
		}
	}
	if strings.Count(said, "cannot convert") != len(refused) {
		t.Error(said)
	}
}

// Nor does reflection.
func TestNoConversionReflects(t *testing.T) {
	type one struct{ A int }
	type two struct{ A int }
	for _, from := range []reflect.Type{reflect.TypeFor[Typed[one]](), reflect.TypeFor[Authorized[one]]()} {
		for _, to := range []reflect.Type{reflect.TypeFor[Typed[two]](), reflect.TypeFor[Authorized[two]]()} {
			if from.ConvertibleTo(to) || reflect.PointerTo(from).ConvertibleTo(reflect.PointerTo(to)) {
				t.Error(from, to)
			}
		}
	}
}
