// F15, F16, F37, each many times in a row.
import "./janitors.test.js";
