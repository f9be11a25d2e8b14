module example

go 1.24

require linegate v0.0.0

replace linegate => ../../ffi-c/go
