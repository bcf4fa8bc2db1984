import type { ResultFile } from "../../../../src/engine/ports";
import type { ContextChanges } from "../../../../durable-objects/session/files/context-changes";
import { RoundChanges } from "../../../../durable-objects/session/files/round-changes";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { SessionContexts } from "../../../../durable-objects/session/files/session-contexts";
import { fileStores } from "../../../../durable-objects/session/files/compose-workspaces";
import { TurnTrees } from "../../../../durable-objects/session/files/turn-trees";
import { Workspaces } from "../../../../durable-objects/session/files/workspaces";
import type { Bucket } from "../../../../r2-layout/bucket";
import type { WorkspaceSettings } from "../../../../src/config/team";
import { startOfContexts } from "../../../../durable-objects/session/admission/start-states";
import type { ConflictSide, IncludedTurn } from "../../../../src/protocol/api/contexts";
import type { ContextPins } from "../../../../src/uploads/context-index";
import type { ContextReader, OpenContext } from "../../../../src/uploads/context-reader";
import type { AgentFiles, StagedChanges } from "../../../../src/workspace/agent-files";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { FileEntry } from "../../../../src/workspace/types";
import { type Move, says } from "../../../coordination/builders";
import type { World } from "../../../coordination/world";
import { Disk } from "../../../../simulated/disk";

type Texts = Readonly<Record<string, string>>;

/** R2 in memory, with the operations that these tests use. */
class Drawer {
  readonly objects = new Map<string, Uint8Array>();
  /** Whether the bucket rejects writes. */
  isDown = false;

  get bucket(): Bucket {
    const operations = {
      put: async (key: string, bytes: Uint8Array) => {
        if (this.isDown) throw new Error("R2 is away");
        this.objects.set(key, bytes);
      },
      head: async (key: string) => (this.objects.has(key) ? {} : null),
      get: async (key: string) => {
        const bytes = this.objects.get(key);
        return bytes ? { arrayBuffer: async () => bytes.slice().buffer } : null;
      },
    };
    return operations as unknown as Bucket;
  }
}
const NO_MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};
const decoder = new TextDecoder();

/**
 * Uploaded contexts in memory. A version can be erased, and all can be made unreachable.
 */
export class Shelf implements ContextReader {
  readonly #versions = new Map<string, Texts>();
  /** The texts of the files that were read. */
  readonly asked: string[] = [];
  /** The versions that were opened. */
  readonly opened: string[] = [];
  /** Whether contexts cannot be reached. */
  isDown = false;

  put(version: string, files: Texts): void {
    this.#versions.set(version, files);
  }

  erase(version: string): void {
    this.#versions.delete(version);
  }

  uploaded = async () => new Set<string>();

  async open(_: string, name: string, version: string | null): Promise<OpenContext | null> {
    if (this.isDown) throw new Error("We encountered an internal error.");
    this.opened.push(version ?? "");
    const files = this.#versions.get(version ?? "");
    if (!files) return null;
    const entries = await Promise.all(
      Object.entries(files).map(async ([path, text]) => [path, await entryOf(text), text] as const),
    );
    const texts = new Map(entries.map(([, { hash }, text]) => [hash, text]));
    const read = async ({ hash }: FileEntry) => {
      this.asked.push(texts.get(hash) ?? "");
      if (this.isDown || !this.#versions.has(version ?? ""))
        throw new Error("Contents of a context are gone.");
      return new TextEncoder().encode(texts.get(hash));
    };
    return {
      version: {
        id: version ?? "",
        name,
        treeHash: "",
        files: entries.length,
        bytes: 0,
        createdAt: 0,
      },
      tree: new Map(entries.map(([path, entry]) => [path, entry])),
      manifest: new Map(),
      has: (hash) => texts.has(hash),
      read,
      objectOf: ({ hash, size }) => ({ name: hash, bytes: size }),
      stream: () => Promise.reject(new Error("no context is streamed in these tests")),
    };
  }
}

async function entryOf(text: string): Promise<FileEntry> {
  const bytes = new TextEncoder().encode(text);
  return { hash: await hashOf(bytes), size: bytes.byteLength };
}

/** The files of a session with real tables. The decisions come from a `World`. */
export class FilesSession {
  readonly #disk = new Disk({
    mishaps: NO_MISHAPS,
    schedule: (_, run) => queueMicrotask(run),
    toWorld: (at) => at,
  });
  readonly #storage = this.#disk.state(
    () => {},
    () => {},
  ).storage;
  readonly drawer = new Drawer();
  /** The releases of pinned versions, as texts. */
  readonly released: string[] = [];
  readonly #world: World;
  readonly #shelf: Shelf;
  readonly #settings: WorkspaceSettings;
  #workspaces: Workspaces;
  #changes: Pick<ContextChanges, "of"> = { of: () => [] };
  /** The staged changes of the tool call that ends now. */
  #staged: StagedChanges | null = null;

  constructor(world: World, shelf: Shelf, settings: WorkspaceSettings) {
    createTables(this.#storage.sql);
    [this.#world, this.#shelf, this.#settings] = [world, shelf, settings];
    this.#workspaces = this.#make();
    world.filesBy = (body, agent) =>
      this.#workspaces.facts(world.state, agent, {
        effect: "effect" in body ? body.effect : null,
        staged: this.#staged,
      });
  }

  get workspaces(): Workspaces {
    return this.#workspaces;
  }

  /** Creates the workspaces again, so that only the tables are kept. */
  restart(): void {
    this.#workspaces = this.#make();
  }

  /** Runs `work` as the agent's owed tool call. Returns the error of the call; `null` if none. */
  async tool(id: string, work: (files: AgentFiles) => Promise<unknown>): Promise<unknown> {
    const { turn, ids } = this.#world;
    this.#world.startsTool(id);
    let staged: StagedChanges | null = null;
    let problem: unknown = null;
    try {
      await this.#workspaces.prepare(turn);
      const files = this.#workspaces.open(this.#world.turn, ids.indexOf(id));
      await work(files);
      staged = files.staged();
      await this.#workspaces.spill({ staged, results: [] }, new AbortController().signal);
    } catch (error) {
      problem = error;
      staged = null;
    }
    const stepsBefore = this.#world.steps.length;
    this.#staged = staged;
    const events = this.#world.tool(id, problem === null ? "ok" : "error");
    this.#staged = null;
    const ended = events.find((event) => event.type === "tool.completed");
    const payload = staged && ended ? { toolCall: ended.tool_call, staged, results: [] } : null;
    this.#workspaces.write(this.#workspaces.entry(this.#world.steps.slice(stepsBefore), payload));
    return problem;
  }

  /** The presenter replies with a text that is too long to be shown whole. */
  async says(id: string, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    const file = { name: "final.txt", hash: await hashOf(bytes), bytes };
    await this.#workspaces.spill({ staged: null, results: [file] }, new AbortController().signal);
    this.#world.starts(id);
    this.#store(() => this.#world.does(id, says(text, { storable: true })), file);
  }

  /** The agent's call starts and ends with this move. */
  does(id: string, move: Move): void {
    this.#world.starts(id);
    this.#store(() => this.#world.does(id, move));
  }

  /** The user cancels the turn. */
  cancels(): void {
    this.#store(() => this.#world.give({ type: "cancel_requested" }));
  }

  /** Restarts, and performs the jobs that release pinned versions. */
  async releaseContexts(): Promise<void> {
    this.restart();
    const jobs = this.#workspaces.outbox.all().filter(({ type }) => type === "release_contexts");
    for (const job of jobs) await this.#workspaces.perform(job);
  }

  /**
   * The next turn starts from the states that `parent` ended with. `versions`: the newest version
   * of each context. `entry`: the entry of this session in the record of each of these versions.
   */
  async continues(
    parent: number,
    versions: Readonly<Record<string, string>>,
    { entry = null, winner }: { entry?: IncludedTurn | null; winner?: ConflictSide } = {},
  ): ReturnType<typeof startOfContexts> {
    const names = Object.keys(versions);
    const started = await startOfContexts(
      {
        reader: this.#shelf,
        records: {
          read: async () => null,
          entriesOf: async () =>
            new Map(entry ? names.map((name) => [name, JSON.stringify(entry)]) : []),
        },
        states: this.#workspaces.contextStates,
        isKept: (hash) => this.#workspaces.isKept(hash),
      },
      {
        ...{ tenant: "t", sessionId: "s", parent, ...(winner && { winner }) },
        contexts: Object.entries(versions).map(([name, version]) => ({ name, version })),
      },
    );
    if (!started.ok) return started;
    this.#workspaces.contextStates.begin(this.#world.state.turns + 1, started.start);
    const permissions = Object.fromEntries(this.#world.ids.map((id) => [id, "write" as const]));
    const contexts = Object.entries(versions).map(([name, version]) => ({
      ...{ name, version, permissions },
    }));
    this.#store(() =>
      this.#world.give({
        ...{ type: "turn_requested", rules: null, question: "And now?", parentTurn: parent },
        ...{ timeoutMs: null, budget: {}, contexts },
      }),
    );
    return started;
  }

  /** The user asks a question: the next turn starts. */
  asks(): void {
    this.#store(() => this.#world.ask());
  }

  /** The state of a context at the end of a turn, as `version path: text`. */
  async endOf(turn: number, context = "site"): Promise<string[]> {
    const state = this.#workspaces.contextStates.endOf(turn, context);
    const texts: string[] = [];
    for (const [path, entry] of state?.changes ?? []) {
      const contents = entry && (await this.#workspaces.stateContents(turn, entry.hash));
      texts.push(
        `${state?.version} ${path}: ${contents?.ok ? decoder.decode(contents.bytes) : "gone"}`,
      );
    }
    return texts;
  }

  /** Number of working copies that the next job would examine. */
  countDeletable(): number {
    return this.#storage.sql.exec("SELECT hash FROM deletable_blobs").toArray().length;
  }

  /** Performs the jobs that delete contents that nothing needs. */
  async tidies(): Promise<void> {
    for (const job of this.#workspaces.outbox.all())
      if (job.type === "tidy") await this.#workspaces.perform(job);
  }

  /**
   * The changes to contexts of the turn's latest final text, as `name@version path: text`. The text
   * is `gone` for a removed file or for missing contents.
   */
  async changes(turn = 1): Promise<string[]> {
    const texts: string[] = [];
    for (const { context, version, changes } of this.#changes.of(turn)) {
      for (const [path, entry] of changes) {
        const contents = entry && (await this.#workspaces.contents(entry.hash));
        texts.push(
          `${context}@${version} ${path}: ${contents?.ok ? decoder.decode(contents.bytes) : "gone"}`,
        );
      }
    }
    return texts;
  }

  /** Performs an action of the world, and stores the files of its steps. */
  #store(act: () => unknown, wholeText: ResultFile | null = null): void {
    const stepsBefore = this.#world.steps.length;
    act();
    const steps = this.#world.steps.slice(stepsBefore);
    this.#workspaces.write(this.#workspaces.entry(steps, null, wholeText));
  }

  #make(): Workspaces {
    const release: ContextPins["release"] = async ({ turn }, kept) =>
      void this.released.push(
        `turn ${turn}: all but ${kept.map(({ context, version }) => `${context}@${version}`).join(", ")}`,
      );
    const pins = { release };
    const places = {
      storage: this.#storage,
      bucket: this.drawer.bucket,
      place: { tenant: "t", session: "s" },
      pins,
    };
    const parentOf = (number: number) =>
      this.#world.log.flatMap((event) =>
        event.type === "turn.started" && event.turn === number ? [event.parent_turn] : [],
      )[0] ?? (number > 1 ? number - 1 : null);
    const { storageQueue, ...stores } = fileStores(places, {
      parentOf,
      completedWith: (number) =>
        this.#world.log.flatMap((event) =>
          event.type === "turn.completed" && event.turn === number ? [event.attempt] : [],
        )[0] ?? null,
      pinnedIn: (number) =>
        this.#world.log.flatMap((event) =>
          event.type === "turn.started" && event.turn === number ? (event.contexts ?? []) : [],
        ),
      latest: () => null,
    });
    const contexts = new SessionContexts({ reader: this.#shelf, tenant: "t", storageQueue });
    this.#changes = stores.contextChanges;
    return new Workspaces({
      ...stores,
      changes: new RoundChanges(this.#storage.sql),
      contexts,
      turns: new TurnTrees({ ...stores, contexts, parentOf }),
      settingsOf: () => this.#settings,
      protectedPathsOf: (_, name) =>
        this.#settings.contexts.find((grant) => grant.name === name) ?? { protectedPaths: [] },
      close: () => storageQueue.close(),
    });
  }
}
