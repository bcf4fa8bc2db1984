import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { contextServices } from "../../durable-objects/shared/context-services";
import { createApp } from "../../src/api/app";
import type { Env } from "../../src/env";
import type { TurnChanges } from "../../src/protocol/api/contexts";
import { decodeRecord } from "../../src/uploads/records";
import { byPath } from "../../src/workspace/tree";
import type { FileEntry, Tree } from "../../src/workspace/types";
import { LOCAL_PRINCIPAL } from "../../src/tenancy/principal";
import { OPEN_SERVICE } from "../../tests/builders/open-service";
import { createBucket } from "./bucket";
import { createDatabase } from "./database";
import { edited, type Files } from "./paths";
import { type EndState, type SeenVersion, startState } from "./turn-rules";
import type { Ask, Asked } from "./world";

const app = createApp();
const { tenant } = LOCAL_PRINCIPAL;

type StoredTurn = { parent: number; isCompleted: boolean; ends: Map<string, EndState> };
type StoredSession = { id: string; contexts: readonly string[]; turns: StoredTurn[] };

/**
 * The service in this process, behind a socket. Contexts and their routes are those of the service,
 * with D1 and R2 in memory. Turns are played by a script: the start of a turn is computed by the
 * rules of the service, and the team's changes come from the history.
 */
export class InProcessService {
  readonly #database = createDatabase();
  readonly #env = { DB: this.#database, BUCKET: createBucket() } as unknown as Env;
  readonly #contexts = contextServices(this.#env);
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #sessions: StoredSession[];
  #server: Server | null = null;
  #port = 0;

  constructor(sessions: readonly (readonly string[])[]) {
    this.#sessions = sessions.map((contexts, index) => ({
      id: `session_${String(index).padStart(26, "0")}`,
      contexts,
      turns: [],
    }));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  idOf(session: number): string {
    return this.#sessions[session]?.id ?? "";
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error instanceof Error ? error.stack : error));
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** A service in memory cannot be killed without its data, so that it only restarts its server. */
  async kill(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async close(): Promise<void> {
    await this.stop();
    this.#database.close();
  }

  /** Plays a turn: merges, applies the script's changes, and stores the state. */
  async ask({ session: index, parent, edits, ends, wins }: Ask): Promise<Asked> {
    const session = this.#sessions[index];
    if (!session) throw new Error(`there is no session ${index}`);
    const before = session.turns[parent - 1];
    const states = new Map<string, EndState>();
    const conflicts = new Map<string, string[]>();
    for (const name of session.contexts) {
      const newest = await this.#seen(name, session.id);
      if (!newest) return { outcome: "missing" };
      const parentEnd = before?.ends.get(name);
      const recorded = session.turns[(newest.entry?.turn ?? 0) - 1]?.ends.get(name) ?? null;
      const started = parentEnd
        ? startState(newest, parentEnd, recorded, wins)
        : { tree: newest.tree, conflicts: [] };
      if (started.conflicts.length > 0)
        conflicts.set(
          name,
          started.conflicts.map(({ path }) => path),
        );
      states.set(name, { version: newest, tree: started.tree });
    }
    if (conflicts.size > 0) return { outcome: "refused", conflicts };
    const isCompleted = ends !== "failed";
    for (const { context, path, contents } of isCompleted ? edits : []) {
      const state = states.get(context);
      if (state) states.set(context, { ...state, tree: this.#edited(state.tree, path, contents) });
    }
    session.turns.push({ parent, isCompleted, ends: states });
    const files = [...states].map(
      async ([name, { tree }]) => [name, await this.#filesOf(name, tree)] as const,
    );
    return { outcome: "started", ends: new Map(await Promise.all(files)) };
  }

  /** The files of the newest version of a context; `null` if it has none. */
  async newest(name: string): Promise<Files | null> {
    const seen = await this.#seen(name, "");
    return seen && this.#filesOf(name, seen.tree);
  }

  async #seen(name: string, session: string): Promise<SeenVersion | null> {
    const opened = await this.#contexts.reader.open(tenant, name, null);
    if (!opened) return null;
    const { id } = opened.version;
    const record = decodeRecord(await this.#contexts.records.read({ tenant, name, id }));
    const entry = record.find((included) => included.session === session) ?? null;
    for (const file of opened.tree.values()) this.#blobs.set(file.hash, await opened.read(file));
    return { id, tree: opened.tree, entry };
  }

  #edited(tree: Tree, path: string, contents: string | null): Tree {
    const hashes = Object.fromEntries([...tree].map(([name, { hash }]) => [name, hash]));
    const bytes = new TextEncoder().encode(contents ?? "");
    const hash = createHash("sha256").update(bytes).digest("hex");
    this.#blobs.set(hash, bytes);
    const files = edited(hashes, path, contents === null ? null : hash);
    const entryOf = (name: string): FileEntry =>
      name === path ? { hash, size: bytes.byteLength } : (tree.get(name) ?? { hash: "", size: 0 });
    return byPath(new Map(Object.keys(files).map((name) => [name, entryOf(name)])));
  }

  async #filesOf(_name: string, tree: Tree): Promise<Files> {
    const decoder = new TextDecoder();
    return Object.fromEntries(
      [...tree].map(([path, { hash }]) => [path, decoder.decode(this.#blobs.get(hash))]),
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? "", this.url);
    const own = /^\/api\/sessions\/([a-z0-9_]+)(\/.*)?$/.exec(url.pathname);
    const answer = own
      ? this.#session(own[1] ?? "", own[2] ?? "")
      : await this.#forward(request, url, chunks);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  async #forward(request: IncomingMessage, url: URL, chunks: readonly Buffer[]): Promise<Response> {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const { method = "GET" } = request;
    const forwarded = new Request(url, { method, headers, ...(body ? { body } : {}) });
    return app.fetch(forwarded, { ...OPEN_SERVICE, contexts: this.#contexts });
  }

  #session(id: string, rest: string): Response {
    const session = this.#sessions.find((stored) => stored.id === id);
    if (!session) return problem("session_not_found");
    if (rest === "")
      return Response.json({
        turns: session.turns.map(({ parent, isCompleted }, index) => ({
          turn: index + 1,
          status: isCompleted ? "completed" : "failed",
          parent_turn: parent === 0 ? null : parent,
        })),
      });
    const [, turn = "", hash] =
      /^\/turns\/(\d+)\/changes(?:\/blobs\/([0-9a-f]{64}))?$/.exec(rest) ?? [];
    const stored = session.turns[Number(turn) - 1];
    if (!stored) return problem("turn_not_found");
    if (hash === undefined) return Response.json(changesOf(stored));
    const bytes = this.#blobs.get(hash);
    return bytes ? new Response(new Uint8Array(bytes)) : problem("file_not_found");
  }
}

const problem = (code: string): Response =>
  Response.json(
    { type: "about:blank", title: code, status: 404, code, detail: "not in this history" },
    { status: 404, headers: { "content-type": "application/problem+json" } },
  );

function changesOf({ isCompleted, ends }: StoredTurn): TurnChanges {
  const data = [...ends].map(([context, { version, tree }]) => {
    const paths = [...new Set([...version.tree.keys(), ...tree.keys()])].sort();
    const changed = paths.filter((path) => version.tree.get(path)?.hash !== tree.get(path)?.hash);
    return {
      context,
      base_version: version.id,
      changes: changed.map((path) => {
        const file = tree.get(path);
        return { path, hash: file?.hash ?? null, size: file?.size ?? 0 };
      }),
    };
  });
  return { object: "list", data: isCompleted ? data : [] };
}
