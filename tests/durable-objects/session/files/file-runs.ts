import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { sessionPrefix } from "../../../../r2-layout/session-files";
import type { WireEvent } from "../../../../src/protocol/events";
import type { SessionFiles } from "../../../../src/protocol/api/files";
import { LOCAL_TENANT, sessionName } from "../../../../src/tenancy/principal";
import { request, type Run, teamOf } from "../session-client";

/**
 * Helpers for whole runs of agents with workspaces. They read what a run has stored in its log, in
 * the session's storage and in R2.
 */

export const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

/** A team whose agents have workspaces. */
export function withFiles(models: readonly string[], more: object = {}): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, cwd: "work", enable_mcp_command_line: true, ...more },
  }));
  return {
    ...team,
    agents,
    orchestrator: { snapshot_storage: "s", agent_temporary_workspace: "t" },
  };
}

/** The file accesses of an agent, as `operation path`, with the code of a refusal after it. */
export const trail = (events: readonly WireEvent[], agent: string) =>
  ofType(events, "files.accessed")
    .filter((event) => event.agent === agent)
    .flatMap(({ accesses }) =>
      accesses.map(
        ({ operation, path, refused }) => `${operation} ${path}${refused ? ` ${refused}` : ""}`,
      ),
    );

/** The completed tool calls, as `agent tool outcome`. */
export const outcomes = (events: readonly WireEvent[]) =>
  ofType(events, "tool.completed").map(({ agent, name, outcome }) => `${agent} ${name} ${outcome}`);

/** Rows from the storage of the session's Durable Object. */
export const sqlOf = <Row extends Record<string, SqlStorageValue>>(
  { session_id }: Run,
  query: string,
): Promise<Row[]> => {
  const object = env.SESSIONS.get(
    env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)),
  );
  return runInDurableObject(object, (_, { storage }) => storage.sql.exec<Row>(query).toArray());
};

/**
 * Waits until all file jobs of the session are done. Returns the session's prefix in R2, and a
 * function that lists its keys.
 */
export async function filed(run: Run): Promise<{ prefix: string; keys: () => Promise<string[]> }> {
  await vi.waitFor(
    async () => expect(await sqlOf(run, "SELECT body FROM file_duties")).toEqual([]),
    10_000,
  );
  const prefix = sessionPrefix(LOCAL_TENANT, run.session_id);
  const keys = async () =>
    (await env.BUCKET.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length));
  return { prefix, keys };
}

/** The tree that the API returns for this path, in the format of `readStoredSnapshots`. */
export async function listing(path: string): Promise<Record<string, string>> {
  const { data } = await (await request(path)).json<SessionFiles>();
  return Object.fromEntries(
    data.map(({ path: file, sha256, size }) => [file, `${sha256} ${size}`]),
  );
}
