// A connector to a weather service. It says what to ask for and what to make of the answer; everything else is the guard's.
import { defineConnector } from "fanfold";
import { z } from "zod";

const forecast_result = z.object({ city: z.string(), degrees: z.number(), units: z.string() });
export type Forecast = z.output<typeof forecast_result>;

export const forecast = defineConnector({
  // Its task type is "connector.weather.forecast".
  name: "weather.forecast",
  parameters: z.object({ city: z.string() }),
  // Each tenant sets these under a name; base_url and headers mean the same for every connector.
  configuration: z.object({
    base_url: z.string(),
    headers: z.record(z.string(), z.string()),
    units: z.enum(["celsius", "fahrenheit"]).default("celsius"),
  }),
  result: forecast_result,
  async run({ city }, { call, config }) {
    // An answer that is not 2xx is thrown as what it means: 429 waits as it was asked to, 5xx is tried again, 404 fails for good.
    const answer = await call({ url: "/forecast", query: { city, units: config.units } });
    const { degrees } = answer.json() as { degrees: number };
    return { city, degrees, units: config.units };
  },
});
