// What version 17 of dotenv writes where nobody tells it to be quiet.
"use strict";
console.log("[dotenv@17.2.1] injecting env (0) from .env -- tip: encrypt with dotenvx");
require("./serve").serve();
