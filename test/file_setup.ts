// Runs before each test file, in the process that it shares with others.
import { afterAll } from "vitest";
import { endFile } from "./file_end.js";

afterAll(endFile);
