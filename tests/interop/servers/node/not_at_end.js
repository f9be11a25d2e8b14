// A timer that nobody stops keeps it alive behind the end of its input.
"use strict";
setInterval(() => {}, 60_000);
require("./serve").serve();
