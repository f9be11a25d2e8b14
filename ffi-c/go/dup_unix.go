//go:build unix

package linegate

import "syscall"

// dup gives a second descriptor, which no child process inherits.
func dup(descriptor int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	own, err := syscall.Dup(descriptor)
	if err == nil {
		syscall.CloseOnExec(own)
	}
	return own, err
}
