import type { InputRequired, RequestToPerson } from "../../protocol/events/tool";
import { MAX_URL_CHARS } from "./server-limits";
import type { Question } from "./schema";
import { cutText, escapeInvisible } from "./shown-text";

/**
 * A server may request input from a person (elicitation). The service does not ask a person and
 * does not answer the request. It shows the request with the server's origin, and the call ends.
 */

const MAX_QUESTIONS = 5;
const MAX_MESSAGE_CHARS = 500;
const MAX_SCHEME_CHARS = 30;

/**
 * The input requests as they are shown. `url` is the server's address. `clean` removes secrets from
 * the server's text.
 */
export function inputRequired(
  url: string,
  questions: readonly Question[],
  clean: (text: string) => string,
): InputRequired {
  const more = questions.length - MAX_QUESTIONS;
  return {
    origin: new URL(url).origin,
    requests: questions.slice(0, MAX_QUESTIONS).map((question) => toRequest(question, clean)),
    ...(more > 0 && { more }),
  };
}

function toRequest({ method, params }: Question, clean: (text: string) => string): RequestToPerson {
  // Secrets are removed before the cut, because half a secret would not be recognised.
  const cleanText = (text: string): string =>
    cutText(clean(escapeInvisible(text)).replaceAll(/\s+/g, " "), MAX_MESSAGE_CHARS);
  const withoutUrl = { url: null, refused: null };
  if (params?.url !== undefined)
    return {
      kind: "url",
      message: cleanText(params.message ?? ""),
      ...checkedUrl(params.url, clean),
    };
  if (method.startsWith("elicitation/"))
    return { kind: "form", message: cleanText(params?.message ?? ""), ...withoutUrl };
  return { kind: "other", message: cleanText(method), ...withoutUrl };
}

/** The address if it is safe to open in a browser; otherwise the reason why it is refused. */
function checkedUrl(
  text: string,
  clean: (text: string) => string,
): Pick<RequestToPerson, "url" | "refused"> {
  const refused = (why: string) => ({ url: null, refused: why });
  if (!URL.canParse(text)) return refused("it is no address");
  const { protocol, username, password, href } = new URL(text);
  if (protocol !== "https:")
    return refused(
      `its scheme is ${cutText(protocol.slice(0, -1), MAX_SCHEME_CHARS)}, and only https is shown`,
    );
  if (username !== "" || password !== "") return refused("it names a user before its host");
  const url = clean(href);
  return url.length > MAX_URL_CHARS
    ? refused(`it is longer than ${MAX_URL_CHARS} characters`)
    : { url, refused: null };
}

/** The result of a call that ended with input requests, as text for the model. */
export function inputResult({ origin, requests, more }: InputRequired): string {
  const others = more === undefined ? [] : [`(${more} more)`];
  const list = [...requests.map(describeRequest), ...others].map((line) => `- ${line}`).join("\n");
  return `The tool server at ${origin} did not do it: it asks for something first, and nobody was asked.\n${list}\nDo not try to answer it; go on without this tool.`;
}

function describeRequest({ kind, message, url }: RequestToPerson): string {
  if (kind === "url")
    return `it wants a person to open ${url ?? "an address that is refused"}: ${message}`;
  if (kind === "form") return `it wants a person to fill in a form: ${message}`;
  return `it wants the client to do \`${message}\``;
}
