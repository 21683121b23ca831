// F11, F12, each many times in a row.
import "./zombies.test.js";
