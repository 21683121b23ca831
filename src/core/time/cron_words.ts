// A cron pattern in words, for lists and previews: the usual ones as people say them, the others field by field. Pure.

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const day_names = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const months = ",January,February,March,April,May,June,July,August,September,October,November,December".split(",");
const month_names = ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/** "every day at 06:30, Europe/Zurich" */
export function cronInWords(cron: string, time_zone: string): string {
  const fields = cron.trim().toUpperCase().split(/\s+/);
  const [second = "0", minute = "*", hour = "*", day = "*", month = "*", weekday = "*"] =
    fields.length === 6 ? fields : ["0", ...fields];
  return `${[clock(second, minute, hour), dates(day, month, weekday)].filter((part) => part !== "").join(", ")}, ${time_zone}`;
}

const number = /^\d+$/;
const two = (text: string) => text.padStart(2, "0");

function clock(second: string, minute: string, hour: string): string {
  if ([second, minute, hour].every((field) => number.test(field))) {
    return `at ${two(hour)}:${two(minute)}${second === "0" ? "" : `:${two(second)}`}`;
  }
  if (second === "0" && number.test(minute) && /^\d+(,\d+)+$/.test(hour)) {
    return `at ${list(hour.split(",").map((one) => `${two(one)}:${two(minute)}`))}`;
  }
  const parts = [
    second === "0" ? "" : part(second, "second"),
    minute === "*" && second !== "0" ? "" : part(minute, "minute"),
    hour === "*" ? "" : part(hour, "hour"),
  ];
  if (second === "0" && hour === "*" && number.test(minute)) {
    return minute === "0" ? "every hour" : `every hour at minute ${minute}`;
  }
  return parts.filter((text) => text !== "").join(" of ");
}

function dates(day: string, month: string, weekday: string): string {
  const in_month = month === "*" ? "" : ` in ${named(month, month_names, months)}`;
  const by_day = day === "*" ? "" : `on ${day === "L" ? "the last day" : `day ${named(day, [], [])}`} of the month`;
  const by_weekday = weekday === "*" ? "" : `on ${named(weekday, day_names, days)}`;
  if (by_day === "" && by_weekday === "") return month === "*" ? "every day" : `every day${in_month}`;
  return `${[by_day, by_weekday].filter((text) => text !== "").join(" and ")}${in_month}`;
}

function part(field: string, unit: string): string {
  if (field === "*") return `every ${unit}`;
  const step = /^\*\/(\d+)$/.exec(field);
  if (step?.[1] !== undefined) return step[1] === "1" ? `every ${unit}` : `every ${step[1]} ${unit}s`;
  return `${unit} ${named(field, [], [])}`;
}

function named(field: string, short: readonly string[], long: readonly string[]): string {
  const word = (text: string) => {
    const at = short.indexOf(text) === -1 ? Number(text) : short.indexOf(text);
    return long[at] ?? text;
  };
  return list(
    field.split(",").map((item) =>
      item
        .split("/")
        .map((piece, place) => (place === 1 ? `every ${piece}` : piece.split("-").map(word).join(" to ")))
        .join(", "),
    ),
  );
}

function list(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
