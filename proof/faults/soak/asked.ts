import { UsageError, wholeNumber } from "../../../local/command-line";

/** Default number of concurrent sessions. */
export const SESSIONS = 50;
/** A week. Node's timers fire at once if their delay exceeds 24 days. */
const MOST_MINUTES = 7 * 24 * 60;
const TAKEN: readonly string[] = ["soak", "sessions", "seed"];

type Typed = { readonly soak?: string | undefined; readonly sessions?: string | undefined };

/**
 * Parses the options of a soak, by name. Throws `UsageError` for options that a soak ignores, and
 * for a duration outside one minute to one week.
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
