module linegate

go 1.24
