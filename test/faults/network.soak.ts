// F8–F10, each many times in a row.
import "./network.test.js";
