// F31–F33, each many times in a row.
import "./stopping.test.js";
