// CR LF, and the CR once more: what text mode makes of a line that ended with CR LF already.
"use strict";
require("./serve").serve({ reply: (message) => process.stdout.write(JSON.stringify(message) + "\r\r\n") });
