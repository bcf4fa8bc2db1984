import { UsageError, wholeNumber } from "../../../local/command-line";

/** How many at a time, where nothing else is typed. */
export const SESSIONS = 50;
/** A week. Node's timers end at once that are to run for longer than 24 days. */
const MOST_MINUTES = 7 * 24 * 60;
const TAKEN: readonly string[] = ["soak", "sessions", "seed"];

type Typed = { readonly soak?: string | undefined; readonly sessions?: string | undefined };

/**
 * What was typed for a soak, options by name: for how long and how many at a time. Throws `UsageError` for what it would not heed, and for
 * a time that is not from a minute to a week.
 */
export function soakAsked(values: Typed): { minutes: number; sessions: number } {
  const others = Object.keys(values).filter((name) => !TAKEN.includes(name));
  if (others.length > 0)
    throw new UsageError(
      `A soak heeds no ${others.map((name) => `--${name}`).join(", ")}: beside --soak it takes --sessions and --seed.`,
    );
  const minutes = wholeNumber("soak", values.soak, 1);
  if (minutes === null) throw new UsageError("--soak takes the minutes that it shall last.");
  if (minutes > MOST_MINUTES)
    throw new UsageError(`--soak is a week at most, ${MOST_MINUTES} minutes, not ${minutes}.`);
  return { minutes, sessions: wholeNumber("sessions", values.sessions, 1) ?? SESSIONS };
}
