// Every fault of remote workers, many times in a row.
import "./faults.test.js";
