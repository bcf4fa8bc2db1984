import { argumentProblem } from "./parameters";
import type { Tool } from "./tool";

const PARAMETERS = {
  type: "object",
  properties: {
    time_zone: {
      type: "string",
      description: "An IANA name, such as Europe/Vienna; without it, UTC.",
    },
  },
  additionalProperties: false,
};

/**
 * A tool that returns the current time. Prompts do not contain the time, so that they stay the same
 * and providers can cache them.
 */
export const CURRENT_TIME: Tool = {
  spec: {
    name: "current_time",
    description: "Tells the current date and time in a time zone.",
    parameters: PARAMETERS,
  },
  rule: { name: "current_time", acts_outside: false, idempotent: true },
  leavesFiles: true,
  staysInside: true,
  async run(args, { now }) {
    const problem = argumentProblem(PARAMETERS, args);
    if (problem !== null) return { outcome: "error", text: problem };
    const zone = zoneOf(args);
    const text = timeIn(zone, now());
    return text === null
      ? {
          outcome: "error",
          text: `There is no time zone ${JSON.stringify(zone)}. Use an IANA name, such as Europe/Vienna.`,
        }
      : { outcome: "ok", text };
  },
};

const zoneOf = (args: unknown): string =>
  typeof args === "object" &&
  args !== null &&
  "time_zone" in args &&
  typeof args.time_zone === "string"
    ? args.time_zone
    : "UTC";

/** The time in a time zone; `null` if the time zone is unknown. `at` is in Unix ms. */
function timeIn(timeZone: string, at: number): string | null {
  try {
    const format = new Intl.DateTimeFormat("en-GB", {
      timeZone,
      dateStyle: "full",
      timeStyle: "long",
    });
    return `${format.format(at)} (${new Date(at).toISOString()})`;
  } catch {
    return null; // RangeError: unknown time zone
  }
}
