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
