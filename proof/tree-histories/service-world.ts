import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { Client } from "../../client/index";
import { commandLine } from "../../cli/program";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { TREE_MODELS } from "../../simulated/providers/tree-models";
import { LOCAL_VARIABLES } from "../../simulated/service/local-variables";
import { ServiceProcess } from "../../simulated/service/service-process";
import { RunResponseSchema, type TurnResponse, TurnResponseSchema } from "../../src/protocol/api";
import { TurnChangesSchema } from "../../src/protocol/api/contexts";
import { type Diff, DiffSchema } from "../../src/protocol/api/diff";
import { SessionFilesSchema } from "../../src/protocol/api/files";
import {
  AnswerSchema,
  EventListSchema,
  HeadSchema,
  TurnListSchema,
} from "../../src/protocol/api/listings";
import { ioWithoutUser } from "../../tests/cli/commands/terminal";
import {
  type Queue,
  QueuedResponseSchema,
  QueuedTurnSchema,
  QueueSchema,
} from "../../src/protocol/api/queue";
import type { Team } from "./operations";
import type { Files } from "./state";
import type {
  AnswerPlace,
  AskedTurn,
  AskRequest,
  ShownAnswer,
  ShownHistory,
  ShownTree,
  TurnCourse,
  World,
} from "./world";

const ENDS_WITHIN_MS = 60_000;
const POLL_MS = 20;
/** Begins the id of a request that was not queued. The number of its turn follows. */
const STARTED = "turn ";
/** The first token of a text that stalls. */
const FIRST_TOKEN = "Unfi";

/** The runtime with its providers. Histories are played in it one after the other. */
export type Runtime = { service: ServiceProcess; providers: SimulatedProviders };

export async function startRuntime(): Promise<Runtime & { stop(): Promise<void> }> {
  const providers = await startSimulatedProviders({ models: TREE_MODELS });
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

const ProblemSchema = z.object({ code: z.string() });

/** A session in the real runtime, and a folder that the real command line pushes. */
export class ServiceWorld implements World {
  readonly context = `tree-${crypto.randomUUID().slice(0, 8)}`;
  readonly #runtime: Runtime;
  readonly #folder: string;
  #session = "";

  private constructor(runtime: Runtime, folder: string) {
    this.#runtime = runtime;
    this.#folder = folder;
  }

  static async create(runtime: Runtime): Promise<ServiceWorld> {
    return new ServiceWorld(runtime, await mkdtemp(path.join(tmpdir(), "tree-")));
  }

  async start(request: AskRequest): Promise<number> {
    const { question, team = "usual" } = request;
    const started =
      this.#session === ""
        ? await this.#startAt("/api/runs", { question, config: this.#config(team) })
        : await this.#startAt(`${this.#path}/turns`, this.#bodyOf(request));
    const run = RunResponseSchema.parse(started);
    this.#session = run.session_id;
    return run.turn;
  }

  async repeat(turn: number): Promise<number> {
    const started = await this.#startAt(`${this.#path}/turns`, { repeat_turn: turn });
    return RunResponseSchema.parse(started).turn;
  }

  async compact(): Promise<number | string> {
    const { status, json } = await this.#send(`${this.#path}/compact`, {});
    return status === 202 ? RunResponseSchema.parse(json).turn : ProblemSchema.parse(json).code;
  }

  async send(request: AskRequest): Promise<string> {
    return this.#sendBusy(request, "queue");
  }

  async remove(id: string): Promise<boolean> {
    const { status } = await this.#send(`${this.#path}/queue/${id}`, null, "DELETE");
    return status === 204;
  }

  async turnOfSent(id: string): Promise<number> {
    if (id.startsWith(STARTED)) return Number(id.slice(STARTED.length));
    const giveUpAt = performance.now() + ENDS_WITHIN_MS;
    while (performance.now() < giveUpAt) {
      const { json } = await this.#send(`${this.#path}/queue/${id}`);
      const { turn } = QueuedTurnSchema.parse(json);
      if (turn !== null) return turn;
      if ((await this.#queue()).held !== null)
        await this.#send(`${this.#path}/queue/resume`, {}, "POST");
      await sleep(POLL_MS);
    }
    throw new Error(`${id} got no turn: ${JSON.stringify(await this.#queue())}`);
  }

  async queue(): Promise<readonly string[]> {
    return (await this.#queue()).data.map(({ id }) => id);
  }

  async finish(turn: number, course: TurnCourse): Promise<AskedTurn> {
    const { ends, killAfterMs } = course;
    if (killAfterMs !== null) {
      await sleep(killAfterMs);
      await this.kill();
    }
    const stopped = ends === "cancelled" ? await this.#stop(turn, course) : null;
    const ended = await this.#end(turn);
    const hasResult = ended.status === "completed" && course.kind !== "compact";
    return {
      ...{ number: turn, parent: ended.parent_turn, status: ended.status },
      ...{ answer: ended.answer, partial: ended.partial?.text ?? null },
      moveDuringTurn: stopped?.moved ?? null,
      interrupting: stopped?.interrupting ?? null,
      hashes: hasResult ? await this.#hashes(`${this.#path}/turns/${turn}/files`) : null,
      changes: hasResult ? await this.#changes(turn) : null,
      history: await this.#history(ended),
    };
  }

  async answer({ turn, attempt, label }: AnswerPlace): Promise<ShownAnswer> {
    const place = `${this.#path}/turns/${turn}/answers/${label}`;
    const { json } = await this.#send(`${place}?attempt=${attempt}`);
    const hashes = await this.#hashes(`${place}/files?attempt=${attempt}`);
    return { text: AnswerSchema.parse(json).content, hashes };
  }

  async move(turn: number): Promise<number | string> {
    const { status, json } = await this.#send(`${this.#path}/head`, { turn });
    return status === 200 ? HeadSchema.parse(json).head : ProblemSchema.parse(json).code;
  }

  async push(files: Files): Promise<void> {
    await this.#removeFiles();
    for (const [name, contents] of files) {
      const file = path.join(this.#folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, contents);
    }
    const program = commandLine({ io: ioWithoutUser(this.#folder), end: () => undefined });
    const { url } = this.#runtime.service;
    await program.parseAsync(["push", "--name", this.context, "--server", url], { from: "user" });
  }

  /** Removes all but the notes of the command line, which name the pushed version. */
  async #removeFiles(): Promise<void> {
    for (const name of await readdir(this.#folder))
      if (name !== ".massgen-edge") await rm(path.join(this.#folder, name), { recursive: true });
  }

  async kill(): Promise<void> {
    await this.#runtime.service.kill();
    await this.#runtime.service.start();
  }

  async tree(): Promise<ShownTree> {
    const { json } = await this.#send(`${this.#path}/turns?limit=1000`);
    const { data, head } = TurnListSchema.parse(json);
    return {
      head,
      turns: data.map(({ turn, parent_turn, status, kind, question_preview }) => ({
        ...{ number: turn, parent: parent_turn, status },
        kind: kind === "compact" && question_preview === "" ? kind : "question",
      })),
    };
  }

  async diff(from: string, to: string): Promise<Diff> {
    const query = new URLSearchParams({ from, to });
    const { json } = await this.#send(`${this.#path}/diff?${query}`);
    return DiffSchema.parse(json);
  }

  /** The runtime is shared. Its owner stops it. */
  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #path(): string {
    return `/api/sessions/${this.#session}`;
  }

  /** Starts a turn. Returns the response. */
  async #startAt(place: string, body: object): Promise<unknown> {
    const { status, json } = await this.#send(place, body);
    if (status !== 202)
      throw new Error(`the turn was answered with ${status}: ${JSON.stringify(json)}`);
    return json;
  }

  /** The id of the queued request, or of the turn that it started because none was running. */
  async #sendBusy(request: AskRequest, onBusy: "queue" | "interrupt"): Promise<string> {
    const body = { ...this.#bodyOf(request), on_busy: onBusy };
    const started = await this.#startAt(`${this.#path}/turns`, body);
    const queued = QueuedResponseSchema.safeParse(started);
    if (queued.success) return queued.data.queued.id;
    return `${STARTED}${RunResponseSchema.parse(started).turn}`;
  }

  async #queue(): Promise<Queue> {
    return QueueSchema.parse((await this.#send(`${this.#path}/queue`)).json);
  }

  #bodyOf({ question, parent, team }: AskRequest): object {
    return {
      question,
      ...(parent !== undefined && { parent_turn: parent }),
      ...(team && { config: this.#config(team) }),
    };
  }

  #config(team: Team): object {
    const models = team === "usual" ? ["chronicler", "witness"] : ["witness", "chronicler"];
    const agents = models.map((model) => ({
      id: model,
      backend: {
        ...{ type: "chatcompletion", base_url: this.#runtime.providers.baseUrl },
        ...{ api_key: "simulated", model, enable_mcp_command_line: true },
      },
    }));
    return {
      agents,
      orchestrator: {
        coordination: { max_orchestration_restarts: 1 },
        context_paths: [{ path: this.context, permission: "write" }],
      },
    };
  }

  /** Tries to move the head in the middle of the final text, then ends the turn. */
  async #stop(
    turn: number,
    { interrupt }: TurnCourse,
  ): Promise<{ moved: string; interrupting: string | null }> {
    const giveUpAt = performance.now() + ENDS_WITHIN_MS;
    while (!(await this.#isStalled(turn))) {
      if (performance.now() > giveUpAt) throw new Error(`turn ${turn} has no text yet`);
      await sleep(POLL_MS);
    }
    const moved = String(await this.move(1));
    if (interrupt) return { moved, interrupting: await this.#sendBusy(interrupt, "interrupt") };
    await this.#send(`${this.#path}/cancel`, {});
    return { moved, interrupting: null };
  }

  /** Whether the log has a text of the latest call. A call from before a kill does not count. */
  async #isStalled(turn: number): Promise<boolean> {
    const { json } = await this.#send(`${this.#path}/turns/${turn}/events?limit=1000`);
    const { data } = EventListSchema.parse(json);
    const latest = data.slice(data.findLastIndex(({ type }) => type === "call.started"));
    return latest.some(
      (event) => event.type === "stream.delta" && JSON.stringify(event).includes(FIRST_TOKEN),
    );
  }

  async #end(turn: number): Promise<TurnResponse> {
    const giveUpAt = performance.now() + ENDS_WITHIN_MS;
    for (;;) {
      const { json } = await this.#send(`${this.#path}/turns/${turn}`);
      const response = TurnResponseSchema.parse(json);
      if (response.status !== "running" || performance.now() > giveUpAt) return response;
      await sleep(POLL_MS);
    }
  }

  /** How much of the earlier turns the agents read, with the summaries in the log of the turn. */
  async #history({ turn, history }: TurnResponse): Promise<ShownHistory> {
    if (!history) return { through: null, isCut: false, written: [] };
    const place = `${this.#path}/turns/${turn}/events?detail=summary&limit=1000`;
    const { data } = EventListSchema.parse((await this.#send(place)).json);
    return {
      through: history.summary_through,
      isCut: history.cut !== null,
      written: data.flatMap((event) =>
        event.type === "history.summarised" ? [{ turns: event.turns, text: event.text }] : [],
      ),
    };
  }

  async #hashes(place: string): Promise<ReadonlyMap<string, string>> {
    const { json } = await this.#send(place);
    const { data } = SessionFilesSchema.parse(json);
    return new Map(data.map(({ path: file, sha256 }) => [file, sha256]));
  }

  async #changes(turn: number): Promise<ReadonlyMap<string, string | null>> {
    const { json } = await this.#send(`${this.#path}/turns/${turn}/changes`);
    const { data } = TurnChangesSchema.parse(json);
    return new Map(
      data.flatMap(({ changes }) => changes.map(({ path: file, hash }) => [file, hash])),
    );
  }

  /** Sends a request over a new connection, because a kill breaks open connections. */
  async #send(
    place: string,
    body: object | null = null,
    method: "DELETE" | "GET" | "POST" = body ? "POST" : "GET",
  ): Promise<{ status: number; json: unknown }> {
    const client = new Client({
      server: this.#runtime.service.url,
      headers: { connection: "close" },
    });
    const { status, bytes } = await client.receive({
      ...{ method, path: place },
      ...(body ? { json: body } : {}),
    });
    const text = new TextDecoder().decode(bytes);
    return { status, json: text === "" ? null : JSON.parse(text) };
  }
}
