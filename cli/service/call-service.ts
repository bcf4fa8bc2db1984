import type { z } from "zod";
import { type Call, Client, ClientError } from "../../client/index";
import type { Connection } from "../credentials/connection";
import { VERSION } from "../invocation";
import { type RequestContext, toCliError, unexpectedAnswer } from "./problem";

/**
 * How the command line calls the service: with its own name, with errors for people, and with
 * answers checked by its schemas.
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

/** An answer, checked, and its JSON. */
export type Answer<T> = { data: T; raw: string };

/** The same, with the answer checked. */
export async function readAnswer<T>(
  context: RequestContext,
  schema: z.ZodType<T>,
  work: (client: Client) => Promise<unknown>,
): Promise<Answer<T>> {
  const value = await callService(context, work);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { data: parsed.data, raw: JSON.stringify(value) };
  throw unexpectedAnswer(200, context);
}

/** The answer to a call that the client has no function for. */
export const request = <T>(
  call: Call,
  schema: z.ZodType<T>,
  context: RequestContext,
): Promise<Answer<T>> => readAnswer(context, schema, (client) => client.json(call));

/** Events and values that arrive over time. Throws as `callService`. */
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
 * How a service judges a key. `open`: no key is needed. `limited`: the key is valid, and may not
 * read. `refused`: with the service's message.
 */
export type Access =
  | { kind: "good" }
  | { kind: "open" }
  | { kind: "limited" }
  | { kind: "refused"; message: string };

/**
 * Asks for the shortest list there is. Throws CliError if there is no answer, or something else
 * than the service answers.
 */
export async function judgeAccess(connection: Connection): Promise<Access> {
  const own = await probe(connection);
  if (own.kind !== "good" || connection.key === undefined)
    return own.kind === "good" ? { kind: "open" } : own;
  const { key: _, ...withoutKey } = connection;
  return (await probe(withoutKey)).kind === "good" ? { kind: "open" } : own;
}

const PROBE = { method: "GET", path: "/api/sessions?limit=1" } as const;

function probe(connection: Connection): Promise<Access> {
  return callService(connection, async (client): Promise<Access> => {
    const answer = await client.receive(PROBE);
    if (answer.status >= 200 && answer.status < 300) return { kind: "good" };
    if (answer.status === 403) return { kind: "limited" };
    const error = client.errorFrom(answer);
    if (answer.status !== 401) throw error;
    return { kind: "refused", message: toCliError(error, connection).message };
  });
}
