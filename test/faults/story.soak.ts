// The main story, many times in a row.
import "./story.test.js";
