import type { Connection } from "../credentials/connection";
import { errorFrom } from "./problem";
import { reach } from "./request";

/**
 * What a service says to a key. `open`: it lets everybody in. `limited`: it knows the key, which may not read. `refused`: with
 * what it said.
 */
export type Access =
  | { kind: "good" }
  | { kind: "open" }
  | { kind: "limited" }
  | { kind: "refused"; message: string };

/** Asks for the shortest list there is. Throws CliError if nobody answers, or something else than the service. */
export async function judgeAccess(connection: Connection): Promise<Access> {
  const own = await probe(connection);
  if (own.kind !== "good" || connection.key === undefined)
    return own.kind === "good" ? { kind: "open" } : own;
  const { key: _, ...nobody } = connection;
  return (await probe(nobody)).kind === "good" ? { kind: "open" } : own;
}

async function probe(connection: Connection): Promise<Access> {
  const response = await reach({ method: "GET", path: "/api/sessions?limit=1" }, connection);
  if (response.ok) {
    await response.body?.cancel();
    return { kind: "good" };
  }
  const { status } = response;
  const error = await errorFrom(response, connection);
  if (status === 403) return { kind: "limited" };
  if (status === 401) return { kind: "refused", message: error.message };
  throw error;
}
