// console.debug sounds like stderr, and is stdout.
"use strict";
require("./serve").serve({ before: (method) => console.debug("->", method) });
