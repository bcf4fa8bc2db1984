import type { z } from "zod";
import { type Call, Client, ClientError } from "../../client/index";
import type { Connection } from "../credentials/connection";
import { VERSION } from "../invocation";
import { toLine } from "../terminal/sanitize";
import { type RequestContext, toCliError, unexpectedResponse } from "./problem";

/**
 * Calls of the service. They send this program's user agent, throw errors with messages for people,
 * and check responses against schemas.
 */

const clientOf = ({ server, key }: Connection): Client =>
  new Client({ server, key, headers: { "User-Agent": `massgen-edge/${VERSION}` } });

/** Calls the service. Throws CliError, or the signal's reason after an abort. */
export async function callService<T>(
  context: RequestContext,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  try {
    return await work(clientOf(context));
  } catch (error) {
    throw error instanceof ClientError ? toCliError(error, context) : error;
  }
}

/** A response that matches its schema (`data`), and its JSON text (`raw`). */
export type Answer<T> = { data: T; raw: string };

/** Calls the service and checks the response. Throws the same errors as `callService`. */
export async function readAnswer<T>(
  context: RequestContext,
  schema: z.ZodType<T>,
  work: (client: Client) => Promise<unknown>,
): Promise<Answer<T>> {
  const value = await callService(context, work);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, raw: JSON.stringify(value) };
  throw unexpectedResponse(200, context);
}

/** Sends a call for which the client has no method. */
export const request = <T>(
  call: Call,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<Answer<T>> => readAnswer(context, schema, (client) => client.json(call));

/** Yields values, such as events, as they arrive. Throws the same errors as `callService`. */
export async function* streamFromService<T>(
  context: RequestContext,
  work: (client: Client) => AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  try {
    yield* work(clientOf(context));
  } catch (error) {
    throw error instanceof ClientError ? toCliError(error, context) : error;
  }
}

/**
 * The service's response to a key. `open`: the service needs no key. `limited`: the key is valid
 * but has no scope `read`. `refused` has the service's error code, and its message on one line.
 * `code` is `null` if the response has no error code.
 */
export type Access =
  | { kind: "good" }
  | { kind: "open" }
  | { kind: "limited" }
  | { kind: "refused"; code: string | null; message: string };

/**
 * Checks a key by a request for a list of one session. Throws CliError if the service does not
 * respond, or if another program responds.
 */
export async function judgeAccess(connection: Connection): Promise<Access> {
  const access = await probe(connection);
  if (access.kind !== "good" || connection.key === undefined)
    return access.kind === "good" ? { kind: "open" } : access;
  const { key: _, ...withoutKey } = connection;
  return (await probe(withoutKey)).kind === "good" ? { kind: "open" } : access;
}

const PROBE = { method: "GET", path: "/api/sessions?limit=1" } as const;

function probe(connection: Connection): Promise<Access> {
  return callService(connection, async (client): Promise<Access> => {
    const answer = await client.receive(PROBE);
    if (answer.status >= 200 && answer.status < 300) return { kind: "good" };
    if (answer.status === 403) return { kind: "limited" };
    const error = client.errorFrom(answer);
    if (answer.status !== 401) throw error;
    return { kind: "refused", code: error.code, message: toLine(error.message) };
  });
}
