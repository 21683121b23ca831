// Outages, each many times in a row.
import "./outages.test.js";
