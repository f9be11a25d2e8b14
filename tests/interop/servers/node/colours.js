// A coloured line for a terminal that isn't there.
"use strict";
console.log("\x1b[32m✔\x1b[39m Connected");
require("./serve").serve();
