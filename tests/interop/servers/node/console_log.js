// console.log at the start, as every tutorial of a web server has it.
"use strict";
console.log("Server listening on stdio 🚀");
require("./serve").serve();
