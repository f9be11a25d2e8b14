// Clean: the server as it is.
"use strict";
require("./serve").serve();
