// F24, F25, F36, each many times in a row.
import "./submits.test.js";
