import type { EventOf } from "../../src/protocol/events";
import { type HostedToolName, HostedToolNameSchema } from "../../src/protocol/hosted-tools";
import { toLine } from "../terminal/sanitize";
import { fitStart } from "../terminal/text-width";

/** How people are told of tools that a provider runs itself. */
const WORDS: Record<HostedToolName, { does: string; did: string; failed: string }> = {
  web_search: {
    does: "searches the web",
    did: "searched the web",
    failed: "could not search the web",
  },
  x_search: { does: "searches posts", did: "searched posts", failed: "could not search posts" },
  code_execution: { does: "runs code", did: "ran code", failed: "had code fail" },
};
/** Enough of a query or of code to recognise it. */
const MOST_INPUT_COLUMNS = 200;

/** `searched the web: <query>`. */
export function didUse({ name, input, outcome }: EventOf<"hosted_tool.completed">): string {
  const { did, failed } = WORDS[name];
  return withInput(outcome === "ok" ? did : failed, fitStart(toLine(input), MOST_INPUT_COLUMNS));
}

/** `searches the web: <query as far as it is written>`; `name` may be that of a tool this program does not know. */
export function doesUse(name: string | null, input: string): string {
  const known = HostedToolNameSchema.safeParse(name).data;
  return withInput(known ? WORDS[known].does : "uses a tool of its provider", toLine(input));
}

const withInput = (what: string, input: string): string =>
  input === "" ? what : `${what}: ${input}`;
