// F1–F4, each many times in a row.
import "./kills.test.js";
