// F34, F35, each many times in a row.
import "./cancelling.test.js";
