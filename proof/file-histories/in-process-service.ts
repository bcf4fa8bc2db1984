import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { startOfContexts } from "../../durable-objects/session/admission/start-states";
import type { ContextState, TurnStart } from "../../durable-objects/session/files/context-states";
import { contextServices } from "../../durable-objects/shared/context-services";
import { createApp } from "../../src/api/app";
import type { TurnChanges } from "../../src/protocol/api/contexts";
import { applyChanges, byPath, diffTrees } from "../../src/workspace/tree";
import type { OpenContext } from "../../src/uploads/context-reader";
import type { FileEntry, Tree } from "../../src/workspace/types";
import { LOCAL_PRINCIPAL } from "../../src/tenancy/principal";
import { OPEN_SERVICE } from "../../tests/builders/open-service";
import { createBucket } from "./bucket";
import { createDatabase } from "./database";
import { edited, type Files } from "./paths";
import { toEnv } from "./schema";
import type { Ask, AskOutcome } from "./world";

const app = createApp();
const { tenant } = LOCAL_PRINCIPAL;

/** `ends`: the state of each context at the end, and its tree. */
type StoredTurn = {
  parent: number;
  isCompleted: boolean;
  start: TurnStart;
  ends: Map<string, { state: ContextState; tree: Tree }>;
};
type StoredSession = { id: string; contexts: readonly string[]; turns: StoredTurn[] };

/**
 * The service in this process, behind a socket. Contexts and their routes are those of the service,
 * with D1 and R2 in memory. Turns are played by a script: the start of a turn is computed by the
 * rules of the service, and the team's changes come from the history.
 */
export class InProcessService {
  readonly #database = createDatabase();
  readonly #env = toEnv({ DB: this.#database, BUCKET: createBucket() });
  readonly #contexts = contextServices(this.#env);
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #sessions: StoredSession[];
  #server: Server | null = null;
  #beforePushAnswer: (() => Promise<void>) | null = null;
  #beforeContents: (() => Promise<void>) | null = null;
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

  nameOf(context: string): string {
    return context;
  }

  beforePushAnswer(act: (() => Promise<void>) | null): void {
    this.#beforePushAnswer = act;
  }

  /** Runs `act` before the next contents of a file are sent. If it throws, they are not sent. */
  beforeContents(act: (() => Promise<void>) | null): void {
    this.#beforeContents = act;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error instanceof Error ? error.stack : error));
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    const address = server.address();
    this.#port = typeof address === "object" ? (address?.port ?? 0) : 0;
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
  async ask({ session: index, parent, edits, ends, wins, uses }: Ask): Promise<AskOutcome> {
    const session = this.#sessions[index];
    if (!session) throw new Error(`there is no session ${index}`);
    const newest = new Map<string, OpenContext>();
    for (const name of uses ?? session.contexts) {
      const opened = await this.#contexts.reader.open(tenant, name, null);
      if (!opened) return { outcome: "missing" };
      await this.#keepContents(opened);
      newest.set(name, opened);
    }
    const started = await startOfContexts(
      {
        reader: this.#contexts.reader,
        records: this.#contexts.records,
        states: session.turns.length === 0 ? null : statesOf(session),
        isKept: (hash) => this.#blobs.has(hash),
      },
      {
        ...{ tenant, sessionId: session.id, parent: parent === 0 ? null : parent },
        contexts: [...newest].map(([name, { version }]) => ({ name, version: version.id })),
        ...(wins ? { winner: wins } : {}),
      },
    );
    if (!started.ok) {
      const groups = Map.groupBy(started.conflicts, ({ context }) => context);
      const paths = [...groups].map(
        ([name, found]) => [name, found.map(({ path }) => path)] as const,
      );
      return { outcome: "refused", conflicts: new Map(paths) };
    }
    const isCompleted = ends !== "failed";
    const states = new Map<string, { state: ContextState; tree: Tree }>();
    for (const state of started.start.states) {
      const pinned = newest.get(state.context)?.tree ?? new Map();
      const script = isCompleted ? edits.filter(({ context }) => context === state.context) : [];
      const tree = script.reduce(
        (before, { path, contents }) => this.#edited(before, path, contents),
        applyChanges(pinned, state.changes),
      );
      states.set(state.context, { state: { ...state, changes: diffTrees(pinned, tree) }, tree });
    }
    session.turns.push({ parent, isCompleted, start: started.start, ends: states });
    const files = [...states].map(([name, { tree }]) => [name, this.#filesOf(tree)] as const);
    return { outcome: "started", ends: new Map(files) };
  }

  /** The files of the newest version of a context; `null` if it has none. */
  async newest(name: string): Promise<Files | null> {
    const opened = await this.#contexts.reader.open(tenant, name, null);
    if (!opened) return null;
    await this.#keepContents(opened);
    return this.#filesOf(opened.tree);
  }

  async #keepContents({ tree, read }: OpenContext): Promise<void> {
    for (const file of tree.values())
      if (!this.#blobs.has(file.hash)) this.#blobs.set(file.hash, await read(file));
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

  #filesOf(tree: Tree): Files {
    const decoder = new TextDecoder();
    return Object.fromEntries(
      [...tree].map(([path, { hash }]) => [path, decoder.decode(this.#blobs.get(hash))]),
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const url = new URL(request.url ?? "", this.url);
    const own = /^\/api\/sessions\/([a-z0-9_]+)(\/.*)?$/.exec(url.pathname);
    const answer = own
      ? this.#session(own[1] ?? "", own[2] ?? "")
      : await this.#forward(request, url, chunks);
    const isPushed = request.method === "PUT" && answer.status === 201;
    const act = isPushed ? this.#beforePushAnswer : null;
    if (act) this.#beforePushAnswer = null;
    await act?.();
    if (request.method === "GET" && /\/(files|blobs)\//.test(url.pathname))
      await this.#beforeContents?.();
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
  const data = [...ends.values()].map(({ state: { context, version, changes } }) => ({
    context,
    base_version: version,
    changes: [...changes].map(([path, file]) => ({
      path,
      hash: file?.hash ?? null,
      size: file?.size ?? 0,
    })),
  }));
  return { object: "list", data: isCompleted ? data : [] };
}

/** What the session remembers of its turns' contexts. */
function statesOf({ turns }: StoredSession) {
  const endOf = (turn: number, context: string): ContextState | null => {
    const stored = turns[turn - 1];
    const carriedFrom = stored?.start.carried.get(context);
    const state = (carriedFrom === undefined ? stored : turns[carriedFrom - 1])?.ends.get(context);
    return state?.state ?? null;
  };
  const usedUntil = (turn: number): ReadonlyMap<string, number> => {
    const stored = turns[turn - 1];
    const used = [...(stored?.ends.keys() ?? [])].map((context) => [context, turn] as const);
    return new Map([...(stored?.start.carried ?? []), ...used]);
  };
  const lineOf = (turn: number): number[] => {
    const line: number[] = [];
    for (let next = turn; next !== 0; next = turns[next - 1]?.parent ?? 0) line.push(next);
    return line;
  };
  const versionsUsed = (turn: number, context: string): ReadonlySet<string> =>
    new Set(lineOf(turn).flatMap((one) => turns[one - 1]?.ends.get(context)?.state.version ?? []));
  return { endOf, lineOf, usedUntil, versionsUsed };
}
