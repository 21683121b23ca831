// F5–F7, each many times in a row.
import "./server.test.js";
