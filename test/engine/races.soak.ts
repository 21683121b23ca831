// All races again, and the one of the last two tasks of a stage 10,000 times.
import "./races.test.js";
