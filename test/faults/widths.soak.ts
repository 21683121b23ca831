// F20–F23, each many times in a row.
import "./widths.test.js";
