// The examples in Python at their full size.
import "./examples.test.js";
