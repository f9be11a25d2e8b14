// A program of somebody else's: the installed module, one line.
package main

import (
	"fmt"
	"os"

	"linegate"
)

func main() {
	gate, err := linegate.NewGate(linegate.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer gate.Close()
	_, event, err := gate.Feed([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(linegate.Version(), event.Method)
}
