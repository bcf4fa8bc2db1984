import type { ResultFile } from "../../../../src/engine/ports";
import { RoundChanges } from "../../../../durable-objects/session/files/round-changes";
import { createTables } from "../../../../durable-objects/session/session-tables";
import { SessionContexts } from "../../../../durable-objects/session/files/session-contexts";
import { fileStores } from "../../../../durable-objects/session/files/compose-workspaces";
import { Workspaces } from "../../../../durable-objects/session/files/workspaces";
import type { Bucket } from "../../../../r2-layout/bucket";
import type { WorkspaceSettings } from "../../../../src/config/team";
import type { ContextPins } from "../../../../src/uploads/context-index";
import type { ContextReader, OpenContext } from "../../../../src/uploads/context-reader";
import type { AgentFiles, StagedChanges } from "../../../../src/workspace/agent-files";
import { hashOf } from "../../../../src/workspace/snapshot";
import type { FileEntry } from "../../../../src/workspace/types";
import { type Move, says } from "../../../coordination/builders";
import type { World } from "../../../coordination/world";
import { Disk } from "../../../../simulated/disk";

type Texts = Readonly<Record<string, string>>;

/** The part of R2 that these tests use. */
class Drawer {
  readonly objects = new Map<string, Uint8Array>();
  /** A bucket that rejects writes. */
  isDown = false;

  get bucket(): Bucket {
    const asked = {
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
    return asked as unknown as Bucket;
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
 * Uploaded contexts in memory, with a record of the requests. They can be erased or unreachable.
 */
export class Shelf implements ContextReader {
  readonly #versions = new Map<string, Texts>();
  readonly asked: string[] = [];
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
      stream: () => Promise.reject(new Error("nobody streams")),
    };
  }
}

async function entryOf(text: string): Promise<FileEntry> {
  const bytes = new TextEncoder().encode(text);
  return { hash: await hashOf(bytes), size: bytes.byteLength };
}

/** The files of a session over real tables, driven by the decisions of a `World`. */
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
  /** The messages about pinned versions. */
  readonly released: string[] = [];
  readonly #world: World;
  readonly #shelf: Shelf;
  readonly #settings: WorkspaceSettings;
  #workspaces: Workspaces;
  /** Of the tool call that settles now. */
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

  /** Keeps only what is on disk. */
  restart(): void {
    this.#workspaces = this.#make();
  }

  /** Runs `work` as the agent's owed tool call. Returns the error of the call. */
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
    const from = this.#world.steps.length;
    this.#staged = staged;
    const events = this.#world.tool(id, problem === null ? "ok" : "error");
    this.#staged = null;
    const ended = events.find((event) => event.type === "tool.completed");
    const payload = staged && ended ? { toolCall: ended.tool_call, staged, results: [] } : null;
    this.#workspaces.write(this.#workspaces.entry(this.#world.steps.slice(from), payload));
    return problem;
  }

  /** The presenter's reply is a text that is too long to be shown whole. */
  async says(id: string, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    const whole = { name: "final.txt", hash: await hashOf(bytes), bytes };
    await this.#workspaces.spill({ staged: null, results: [whole] }, new AbortController().signal);
    this.#world.starts(id);
    this.#kept(() => this.#world.does(id, says(text, { storable: true })), whole);
  }

  /** The agent's call ends like this. */
  does(id: string, move: Move): void {
    this.#world.starts(id);
    this.#kept(() => this.#world.does(id, move));
  }

  /** The user cancels the turn. */
  cancels(): void {
    this.#kept(() => this.#world.give({ type: "cancel_requested" }));
  }

  /** Runs the owed jobs for versions, from storage alone. */
  async releaseContexts(): Promise<void> {
    this.restart();
    const duties = this.#workspaces.outbox.all().filter(({ type }) => type === "release_contexts");
    for (const duty of duties) await this.#workspaces.perform(duty);
  }

  /** The user asks again: the next turn follows the latest turn. */
  asks(): void {
    this.#kept(() => this.#world.ask());
  }

  /** Releases contents that nothing references, as a turn's end requires. */
  async tidies(): Promise<void> {
    for (const duty of this.#workspaces.outbox.all())
      if (duty.type === "tidy") await this.#workspaces.perform(duty);
  }

  /** The contexts that the turn's latest final changed, as `name@version path: text`, or `gone`. */
  async changes(turn = 1): Promise<string[]> {
    const texts: string[] = [];
    for (const { context, version, changes } of this.#workspaces.contextChanges(turn)) {
      for (const [path, entry] of changes) {
        const contents = entry && (await this.#workspaces.contents(entry.hash));
        texts.push(
          `${context}@${version} ${path}: ${contents?.ok ? decoder.decode(contents.bytes) : "gone"}`,
        );
      }
    }
    return texts;
  }

  #kept(act: () => unknown, wholeText: ResultFile | null = null): void {
    const from = this.#world.steps.length;
    act();
    const steps = this.#world.steps.slice(from);
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
    const { storageQueue, ...stores } = fileStores(places, {
      parentOf: (turn) => (turn > 1 ? turn - 1 : null),
      completedWith: (number) =>
        this.#world.log.flatMap((event) =>
          event.type === "turn.completed" && event.turn === number ? [event.attempt] : [],
        )[0] ?? null,
      latest: () => null,
    });
    return new Workspaces({
      ...stores,
      changes: new RoundChanges(this.#storage.sql),
      contexts: new SessionContexts({ reader: this.#shelf, tenant: "t", storageQueue }),
      settingsOf: () => this.#settings,
      close: () => storageQueue.close(),
    });
  }
}
