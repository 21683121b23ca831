// F38–F40, each many times in a row.
import "./requests.test.js";
