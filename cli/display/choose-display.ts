import { automationDisplay } from "./automation";
import type { TurnDisplay } from "./turn-lines";
import type { Io } from "../io";
import { jsonDisplay } from "./json-display";
import { liveDisplay } from "./live-display";
import type { OutputOptions } from "../asking/answer-output";
import { plainDisplay } from "./plain-display";
import { canRedraw } from "../terminal/output";

type Sinks = Pick<Io, "stdout" | "stderr" | "env">;

/** The way to show a turn that fits where it is shown. */
export function displayFor(jsonStream: boolean, { stdout, stderr, env }: Sinks): TurnDisplay {
  if (jsonStream) return jsonDisplay(stdout, stderr);
  return canRedraw(stderr, env) ? liveDisplay(stderr, { env }) : plainDisplay(stderr);
}

/** Whether somebody watches, or asked to be told all the same. */
export const showsProgress = (
  { form, verbose }: OutputOptions,
  { stderr }: Pick<Io, "stderr">,
): boolean => verbose || (stderr.isTTY === true && form !== "automation");

/** The way to show a turn under these options: a program that calls us gets the answer, not the way there. */
export function displayUnder(output: OutputOptions, io: Sinks): TurnDisplay {
  if (output.form === "json-stream") return jsonDisplay(io.stdout, io.stderr);
  const below = showsProgress(output, io) ? displayFor(false, io) : SILENT;
  return output.form === "automation" ? automationDisplay(io.stdout, below) : below;
}

const SILENT: TurnDisplay = {
  update: () => undefined,
  notice: () => undefined,
  close: () => undefined,
};
