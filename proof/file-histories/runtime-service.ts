import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "../../client/index";
import { Chance } from "../../simulated/chance";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { HistoryService } from "./command-line-world";
import type { History } from "./operations";
import type { Files } from "./paths";
import { type Answer, AnswerSchema } from "./schema";
import { editsAsAsked, questionOf } from "./team-script";
import type { Ask, AskOutcome } from "./world";

const MODEL = "editor";
const ENDS_WITHIN_MS = 60_000;
const POLL_MS = 20;
/** The latest moment of a kill, from the start of the turn. */
const KILLED_WITHIN_MS = 400;

/** The runtime with its providers. Histories are played in it one after the other. */
export type Runtime = { service: ServiceProcess; providers: SimulatedProviders };

export async function startRuntime(): Promise<Runtime & { stop(): Promise<void> }> {
  const providers = await startSimulatedProviders({ models: { [MODEL]: editsAsAsked } });
  const service = await ServiceProcess.prepare(LOCAL_VARIABLES);
  await service.start();
  return {
    ...{ service, providers },
    stop: async () => {
      await service.stop();
      await providers.close();
    },
  };
}

/**
 * The service in the real runtime. Contexts get other names for each history, because the histories
 * share the service. `seed` draws the moments of the kills. If a turn of the history does not use
 * all contexts, the requests grant the contexts. Otherwise the config of the session does.
 */
export class RuntimeService implements HistoryService {
  readonly #runtime: Runtime;
  readonly #sessions: readonly (readonly string[])[];
  readonly #isGrantedByRequests: boolean;
  readonly #chance: Chance;
  readonly #prefix: string;
  readonly #ids = new Map<number, string>();

  constructor(
    runtime: Runtime,
    { sessions, operations }: Pick<History, "sessions" | "operations">,
    seed: number,
  ) {
    this.#runtime = runtime;
    this.#sessions = sessions;
    this.#isGrantedByRequests = operations.some(
      (operation) => operation.type === "ask" && operation.uses !== undefined,
    );
    this.#chance = new Chance(seed);
    this.#prefix = `h${crypto.randomUUID().slice(0, 8)}`;
  }

  get url(): string {
    return this.#runtime.service.url;
  }

  nameOf(context: string): string {
    return `${this.#prefix}-${context}`;
  }

  idOf(session: number): string {
    return this.#ids.get(session) ?? "session_00000000000000000000000000";
  }

  async kill(): Promise<void> {
    await this.#runtime.service.kill();
    await this.#runtime.service.start();
  }

  async ask({ session, parent, edits, ends, wins, uses }: Ask): Promise<AskOutcome> {
    const renamed = edits.map((edit) => ({ ...edit, context: this.nameOf(edit.context) }));
    const question = questionOf(renamed, ends === "failed");
    const decided = { ...(wins && { context_conflicts: wins }), ...this.#grants(session, uses) };
    const { status, body } =
      parent === 0
        ? await this.#send("/api/runs", { question, config: this.#configOf(session), ...decided })
        : await this.#send(`/api/sessions/${this.idOf(session)}/turns`, {
            ...{ question, parent_turn: parent, ...decided },
          });
    if (body.code === "context_missing") return { outcome: "missing" };
    if (body.code === "context_conflicts")
      return { outcome: "refused", conflicts: this.#conflictsIn(body.conflicts ?? []) };
    const { session_id: id, turn } = body;
    if (status !== 202 || id === undefined || turn === undefined)
      throw new Error(`the turn was answered with ${status}: ${JSON.stringify(body)}`);
    this.#ids.set(session, id);
    if (ends === "killed") {
      await sleep(this.#chance.int(0, KILLED_WITHIN_MS));
      await this.kill();
    }
    const ended = await this.#end(id, turn);
    const expected = ends === "failed" ? "failed" : "completed";
    if (ended !== expected) throw new Error(`turn ${turn} of ${id} is ${ended}`);
    return { outcome: "started", ends: ends === "failed" ? null : await this.#states(id, turn) };
  }

  async newest(context: string): Promise<Files | null> {
    return this.#filesOf(context, null);
  }

  /** The runtime is shared. Its owner stops it. */
  async close(): Promise<void> {}

  #grants(session: number, uses = this.#sessions[session] ?? []): object {
    if (!this.#isGrantedByRequests) return {};
    return { contexts: uses.map((name) => ({ name: this.nameOf(name), permission: "write" })) };
  }

  #configOf(session: number): object {
    const names = this.#isGrantedByRequests ? [] : (this.#sessions[session] ?? []);
    const backend = {
      ...{ type: "chatcompletion", base_url: this.#runtime.providers.baseUrl },
      ...{ api_key: "simulated", model: MODEL, enable_mcp_command_line: true },
    };
    const paths = names.map((name) => ({ path: this.nameOf(name), permission: "write" }));
    return { agents: [{ id: "editor", backend }], orchestrator: { context_paths: paths } };
  }

  #conflictsIn(conflicts: readonly { context: string; path: string }[]) {
    const groups = Map.groupBy(conflicts, ({ context }) => this.#plainName(context));
    return new Map([...groups].map(([name, found]) => [name, found.map(({ path }) => path)]));
  }

  #plainName = (context: string): string => context.slice(this.#prefix.length + 1);

  async #end(id: string, turn: number): Promise<string> {
    const giveUpAt = performance.now() + ENDS_WITHIN_MS;
    while (performance.now() < giveUpAt) {
      const { body } = await this.#send(`/api/sessions/${id}/turns/${turn}`);
      const { status } = body;
      if (typeof status === "string" && status !== "running") return status;
      await sleep(POLL_MS);
    }
    return "running";
  }

  async #states(session: string, turn: number): Promise<ReadonlyMap<string, Files>> {
    const { contexts } = this.#client();
    const { data } = await contexts.changes({ session, turn });
    const states = data.map(async ({ context, base_version, changes }) => {
      const name = this.#plainName(context);
      const files: Record<string, string> = { ...(await this.#filesOf(name, base_version)) };
      for (const { path, hash } of changes) {
        if (hash === null) delete files[path];
        else files[path] = textOf(await contexts.changedFile({ session, turn }, hash));
      }
      return [name, files] as const;
    });
    return new Map(await Promise.all(states));
  }

  async #filesOf(context: string, version: string | null): Promise<Files | null> {
    const { contexts } = this.#client();
    const name = this.nameOf(context);
    const found = await contexts
      .get(name, version === null ? {} : { version })
      .catch((error: unknown) => {
        if (error instanceof Error && "status" in error && error.status === 404) return null;
        throw error;
      });
    if (!found) return null;
    const files = found.tree.map(
      async ({ path }) =>
        [path, textOf(await contexts.file(name, path, { version: found.version }))] as const,
    );
    return Object.fromEntries(await Promise.all(files));
  }

  /** A new connection for each request, because a kill breaks open connections. */
  #client(): Client {
    return new Client({ server: this.url, headers: { connection: "close" } });
  }

  async #send(path: string, json?: object): Promise<{ status: number; body: Answer }> {
    const { status, bytes } = await this.#client().receive({
      ...{ method: json ? "POST" : "GET", path },
      ...(json ? { json } : {}),
    });
    return { status, body: AnswerSchema.parse(JSON.parse(textOf(bytes))) };
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
