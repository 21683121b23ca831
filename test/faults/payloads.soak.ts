// F19, each many times in a row.
import "./payloads.test.js";
