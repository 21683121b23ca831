// F13, F14, each many times in a row.
import "./clocks.test.js";
