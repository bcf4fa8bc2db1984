import type { Question } from "./schema";
import { cutText, shown } from "./shown-text";

/**
 * A server that asks a person something before it goes on. Nobody is asked and nothing is answered in their name: what it wanted is
 * shown, with where it came from, and the call ends.
 */

const MOST_QUESTIONS = 5;
const MAX_MESSAGE_CHARS = 500;

/** What is shown of the questions; `url` is the server's address. */
export function inputAsked(url: string, questions: readonly Question[]): string {
  const { origin } = new URL(url);
  const asked = questions.slice(0, MOST_QUESTIONS).map(oneQuestion);
  const more = questions.length > MOST_QUESTIONS ? [`(${questions.length - MOST_QUESTIONS} more)`] : [];
  const list = [...asked, ...more].map((line) => `- ${line}`).join("\n");
  return `The tool server at ${origin} did not do it: it asks for something first, and nobody was asked.\n${list}\nDo not try to answer it; go on without this tool.`;
}

function oneQuestion({ method, params }: Question): string {
  const message = quoted(params?.message ?? "");
  if (params?.url !== undefined) return `it wants a person to open ${shownAddress(params.url)}: ${message}`;
  if (method.startsWith("elicitation/")) return `it wants a person to fill in a form: ${message}`;
  return `it wants the client to do \`${quoted(method)}\``;
}

/** Only addresses that a browser opens safely are repeated. */
function shownAddress(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== "https:" || parsed.username !== "" || parsed.password !== "") return "an address that is refused";
  return quoted(parsed.href);
}

const quoted = (text: string): string => cutText(shown(text).replaceAll(/\s+/g, " "), MAX_MESSAGE_CHARS);
