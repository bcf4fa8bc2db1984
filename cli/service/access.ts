import type { Connection } from "../credentials/connection";
import { callService } from "./call-service";
import { toCliError } from "./problem";

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
