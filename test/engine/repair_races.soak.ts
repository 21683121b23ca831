// On an ended job every verb is first, too, also those that such a job refuses.
import "./repair_races.test.js";
