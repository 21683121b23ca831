// F29, F30, each many times in a row.
import "./poison.test.js";
