// Gives a worker process a wrong calendar: node --import ./clock_shim.mjs, with FAULT_CLOCK={"offset_ms":…,"jump_ms":…}.
// With jump_ms the calendar also jumps, to and fro, ten times a second. performance.now() stays true: a monotonic clock is
// what workers are meant to use.
const clock = JSON.parse(process.env.FAULT_CLOCK ?? "null");
if (clock !== null) {
  const RealDate = Date;
  let { offset_ms } = clock;
  const now = () => RealDate.now() + offset_ms;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(now());
      else super(...given);
    }
    static now() {
      return now();
    }
  };
  Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + offset_ms });
  if (clock.jump_ms) {
    let back = false;
    setInterval(() => {
      back = !back;
      offset_ms = clock.offset_ms + (back ? -clock.jump_ms : clock.jump_ms);
    }, 100).unref();
  }
}
