// The end of input taken for a failure.
"use strict";
require("./serve").serve({ ends: () => process.exit(1) });
