import { UsageError, wholeNumber } from "../../../local/command-line";
import { MOST_RUNS_AT_ONCE } from "../runs/tool-ports";

/** Default number of concurrent sessions. */
export const SESSIONS = 50;
/**
 * A week. The limit is needed because Node's timers fire at once if their delay exceeds 24 days.
 */
const MOST_MINUTES = 7 * 24 * 60;
const SUPPORTED: readonly string[] = ["soak", "sessions", "seed"];

type SoakValues = { readonly soak?: string | undefined; readonly sessions?: string | undefined };

/**
 * Parses the options of a soak, given by name. Throws `UsageError` for options that a soak does not
 * support, and for a duration or a number of sessions outside its limits.
 */
export function parseSoakArguments(values: SoakValues): { minutes: number; sessions: number } {
  const others = Object.keys(values).filter((name) => !SUPPORTED.includes(name));
  if (others.length > 0)
    throw new UsageError(
      `--soak does not support ${others.map((name) => `--${name}`).join(", ")}. It supports --sessions and --seed.`,
    );
  const minutes = wholeNumber("soak", values.soak, 1);
  if (minutes === null) throw new UsageError("--soak needs a duration in minutes.");
  if (minutes > MOST_MINUTES)
    throw new UsageError(`--soak is at most a week (${MOST_MINUTES} minutes), not ${minutes}.`);
  const sessions = wholeNumber("sessions", values.sessions, 1) ?? SESSIONS;
  if (sessions > MOST_RUNS_AT_ONCE)
    throw new UsageError(`--sessions is at most ${MOST_RUNS_AT_ONCE}, not ${sessions}.`);
  return { minutes, sessions };
}
