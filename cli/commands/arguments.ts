import { InvalidArgumentError } from "commander";
import { LabelSchema } from "../../src/protocol/api";
import { CONTEXT_NAME } from "../../src/protocol/api/contexts";
import { toOrigin } from "../../client/index";
import { DEFAULT_SERVER } from "../invocation";
import { isSessionReference } from "../service/find-session";

/**
 * Parsers of arguments and options. Each throws commander's InvalidArgumentError for an invalid
 * value; the program then exits with 1.
 */

export function toServer(text: string): string {
  const origin = toOrigin(text);
  if (origin === null) throw new InvalidArgumentError(`Give an address like ${DEFAULT_SERVER}.`);
  return origin;
}

/** Help of arguments and options that name a session. */
export const SESSION_ARGUMENT = "the session's id, the beginning of its id, or `last`";

/** A text that may name a session; `findSession` finds the session. */
export function toSessionReference(text: string): string {
  const reference = text.trim().toLowerCase();
  if (!isSessionReference(reference))
    throw new InvalidArgumentError(
      "Session ids look like session_01jd…. Their beginning is enough; `last` is the last session.",
    );
  return reference;
}

export function toContextName(text: string): string {
  if (!CONTEXT_NAME.test(text))
    throw new InvalidArgumentError(
      "Names of contexts are lower-case letters, digits, dashes and underscores.",
    );
  return text;
}

export function toLabel(text: string): string {
  if (!LabelSchema.safeParse(text).success)
    throw new InvalidArgumentError("Labels look like agent2.1 or agent2.final.");
  return text;
}

export function toUsd(text: string): number {
  const usd = Number(text);
  if (text.trim() === "" || !Number.isFinite(usd) || usd < 0)
    throw new InvalidArgumentError("Give US dollars, like 0.50.");
  return usd;
}

export function toSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 86_400))
    throw new InvalidArgumentError("Give seconds, from 1 to 86400.");
  return seconds;
}

export function toTokens(text: string): number {
  if (!/^\d{1,12}$/.test(text))
    throw new InvalidArgumentError("Give a number of tokens, like 50000.");
  return Number(text);
}

export function toTurn(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("Turns are numbers from 1.");
  return Number(text);
}

export function toPosition(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError("Positions are numbers from 1.");
  return Number(text);
}

export function toAttempt(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("Attempts are numbers from 1.");
  return Number(text);
}

export function toLimit(text: string): number {
  const limit = Number(text);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= 100))
    throw new InvalidArgumentError("Give a number from 1 to 100.");
  return limit;
}

/** Adds a value of a repeatable option to its previous values. */
export const collect = (
  text: string,
  previous: readonly string[] | undefined,
): readonly string[] => {
  if (text.trim() === "") throw new InvalidArgumentError("Name a model.");
  return [...(previous ?? []), text.trim()];
};
