// The Python package's own tests, with those that start the whole product.
import "./package.test.js";
