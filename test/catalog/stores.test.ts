// Both suites in one process, because the embedded database with PostGIS takes seconds to start and a gigabyte.
import "./promises.js";
import "./searches.js";
