import type { EventOf } from "../protocol/events";
import type { HostedToolName } from "../protocol/hosted-tools";

/** Words for the tools that a provider runs itself: while a tool runs, and after it has run. */
const WORDS: Record<HostedToolName, { now: string; done: string; failed: string }> = {
  web_search: {
    now: "searches the web",
    done: "searched the web",
    failed: "could not search the web",
  },
  x_search: { now: "searches posts", done: "searched posts", failed: "could not search posts" },
  code_execution: { now: "runs code", done: "ran code", failed: "could not run code" },
};
/** Characters of a query or of code that are shown: enough to recognise it. */
const MAX_INPUT_CHARS = 200;

/** Describes a hosted tool that has ended: `searched the web: <query>`. */
export function hostedToolUsed({ name, input, outcome }: EventOf<"hosted_tool.completed">): string {
  const { done, failed } = WORDS[name];
  const characters = [...input.replace(/\s+/gu, " ").trim()];
  const shownInput =
    characters.length > MAX_INPUT_CHARS
      ? `${characters.slice(0, MAX_INPUT_CHARS - 1).join("")}…`
      : characters.join("");
  return withInput(outcome === "ok" ? done : failed, shownInput);
}

/**
 * Describes a hosted tool that runs: `searches the web: <query so far>`. `name` may be the name of
 * a tool that this program does not know; `null` if no name was streamed yet.
 */
export function hostedToolInUse(name: string | null, input: string): string {
  const isKnown = (text: string): text is HostedToolName => Object.hasOwn(WORDS, text);
  const now = name !== null && isKnown(name) ? WORDS[name].now : "uses a tool of its provider";
  return withInput(now, input);
}

const withInput = (words: string, input: string): string =>
  input === "" ? words : `${words}: ${input}`;
