// How numbers, durations and sizes read on the screen: the words are core's, because diagnoses use them too.
export { bytes, count, rate, seconds, tasks } from "../../core/shown/figures.js";
