import type { WorkspaceSettings } from "../../../src/config/team";
import {
  runningTurn,
  type SessionState,
  type TurnState,
  type WorkspaceFacts,
} from "../../../src/coordination";
import type { PayloadFiles, StagedCall } from "../../../src/engine/ports";
import type {
  AgentFiles,
  BlobSource,
  FileLimits,
  MountedContext,
  StagedChanges,
} from "../../../src/workspace/agent-files";
import { type ContextMount, contextsOf, peersOf } from "../../../src/workspace/mounts";
import { readsToolResults } from "../../../src/tools/files";
import type { ProtectedPaths } from "../../../src/workspace/permissions";
import { StagedFiles } from "../../../src/workspace/staged-files";
import { applyChanges, EMPTY_TREE } from "../../../src/workspace/tree";
import { type FileEntry, FileError, type Tree } from "../../../src/workspace/types";
import { workspaceFacts } from "../../../src/workspace/workspace-facts";
import { type BlobStore, LostContents } from "./blob-store";
import type { RoundPlace } from "../calls/call-store";
import type { ContextChanges } from "./context-changes";
import type { ContextStates } from "./context-states";
import type { DeliveryResult } from "../log/outbox-worker";
import { DecidedFiles } from "./decided-files";
import {
  contentsOf,
  type EndedTurn,
  type FilesEntry,
  NOTHING_PENDING,
  placeOf,
} from "./files-entry";
import type { FileJobs, FileJob } from "./file-jobs";
import { FILES } from "../../shared/object-limits";
import type { Outbox } from "../log/outbox";
import { RejectedResults } from "./rejected-results";
import type { RoundChanges } from "./round-changes";
import type { Contents, FrozenFiles } from "../session-api";
import type { AnswerFiles } from "../session-queries";
import type { SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";
import type { TurnTrees } from "./turn-trees";
import { WorkspaceTrees } from "./workspace-trees";
import { CONTEXT_LIMITS } from "../../../src/protocol/context-limits";

type Options = {
  blobs: BlobStore;
  changes: RoundChanges;
  snapshots: SnapshotStore;
  contexts: SessionContexts;
  contextChanges: ContextChanges;
  turns: TurnTrees;
  contextStates: ContextStates;
  settingsOf: (agent: number) => WorkspaceSettings | undefined;
  /** The paths of a context that an agent may not change. */
  protectedPathsOf: (agent: number, name: string) => ProtectedPaths;
  outbox: Outbox<FileJob>;
  jobs: FileJobs;
  /** Prevents further operations on R2; resolves when no operation is in progress. */
  close: () => Promise<void>;
};

/** The limits of a context that agents change: the same as for an uploaded context. */
const CONTEXT_FILES: FileLimits = {
  fileBytes: CONTEXT_LIMITS.fileBytes,
  files: CONTEXT_LIMITS.files,
  treeBytes: CONTEXT_LIMITS.bytes,
};

/**
 * The agents' files. A working tree is the tree that its round began with, plus the round's
 * changes. Answers and final texts freeze trees. Other agents read the frozen trees, and the next
 * turn begins with the tree of the latest final text.
 */
export class Workspaces {
  readonly #options: Options;
  readonly #rejected: RejectedResults;
  readonly #trees: WorkspaceTrees;
  readonly #decided: DecidedFiles;

  constructor(options: Options) {
    this.#options = options;
    this.#rejected = new RejectedResults(options);
    this.#trees = new WorkspaceTrees(options);
    this.#decided = new DecidedFiles({ ...options, trees: this.#trees });
  }

  /** Whether the agent has a workspace. */
  has(turn: TurnState, agent: number): boolean {
    return turn.rules.agents[agent]?.workspace === true;
  }

  /**
   * Whether the agent's tool calls may write files. An agent without a workspace may have files
   * only for large results.
   */
  holdsFiles(turn: TurnState, agent: number): boolean {
    return this.has(turn, agent) || readsToolResults(turn.rules.agents[agent]?.tools ?? []);
  }

  /**
   * Loads the turn's contexts. To be awaited before `open`. Throws `FileError` if a context cannot
   * be read now.
   */
  prepare(turn: TurnState): Promise<void> {
    const { contexts, contextStates } = this.#options;
    return contexts.load(turn.number, turn.contexts ? contextStates.start(turn.number).states : []);
  }

  /**
   * Opens the agent's files for one tool call. An agent without a workspace has only the large
   * results of its round.
   */
  open(turn: TurnState, agent: number): AgentFiles {
    const { changes } = this.#options;
    const place = placeOf(turn, agent);
    const common = {
      blobs: this.#source(),
      limits: { fileBytes: FILES.fileBytes, files: FILES.files, treeBytes: FILES.treeBytes },
      readBeforeDelete: this.#options.settingsOf(agent)?.readBeforeDelete ?? true,
      ...changes.marks(place),
    };
    if (!this.has(turn, agent)) {
      const workspace = applyChanges(EMPTY_TREE, changes.of(place));
      return new StagedFiles({ workspace, peers: new Map(), contexts: new Map(), ...common });
    }
    const turns = this.#options.turns.of(turn, agent);
    const peers = [...peersOf(turn, agent)].map(([alias, label]): [string, Tree] => [
      alias,
      this.#trees.frozen({ ...place, label }),
    ]);
    return new StagedFiles({
      workspace: this.#trees.working(turn, agent, NOTHING_PENDING),
      peers: new Map(peers),
      contexts: new Map(
        contextsOf(turn, agent).flatMap((mount) => this.#mounted(mount, agent, place)),
      ),
      attempts: this.#rejected.of(turn, agent),
      ...(turns && { turns }),
      ...common,
    });
  }

  /**
   * Facts about the agent's workspace. They include the files that `call` has staged if the agent
   * made this call. `null` if no turn runs or the agent has no workspace.
   */
  facts(state: SessionState, agent: number, call: StagedCall): WorkspaceFacts | null {
    const turn = runningTurn(state);
    if (!turn || !this.has(turn, agent)) return null;
    const author = call.effect === null ? undefined : turn.inFlight[call.effect]?.agent;
    const staged = agent === author ? call.staged : null;
    const place = placeOf(turn, agent);
    const touched = new Map([...this.#options.changes.of(place), ...(staged?.workspace ?? [])]);
    const contexts = this.#trees.contextEdits(
      turn,
      place,
      staged && this.#trees.changed(turn, place, staged),
    );
    return workspaceFacts({
      base: this.#trees.base(turn, agent, []),
      touched,
      previous: this.#trees.previous(turn, agent),
      contexts,
    });
  }

  /** The files of an answer, or of the turn's result if `answer` is `null`. */
  frozen(turn: number, answer: AnswerFiles | null): FrozenFiles {
    const result = answer ? null : this.#options.snapshots.resultOf(turn);
    const { attempt, label } = answer ?? result?.place ?? { attempt: 1, label: "" };
    const tree = answer
      ? this.#trees.frozen({ turn, attempt, label: answer.snapshot })
      : (result?.tree ?? EMPTY_TREE);
    return { attempt, label, tree: [...tree].map(([path, entry]) => ({ path, ...entry })) };
  }

  /** The files that a later turn begins with if it continues this turn. */
  treeAfter(turn: number): Tree {
    return this.#options.snapshots.treeAfter(turn);
  }

  /** Whether the session itself stores contents. */
  isKept(hash: string): boolean {
    return this.#options.blobs.isKept(hash);
  }

  /** Reads contents by hash. */
  async contents(hash: string): Promise<Contents> {
    const { blobs } = this.#options;
    if (!blobs.has(hash))
      return { ok: false, code: blobs.isLost(hash) ? "contents_lost" : "file_not_found" };
    try {
      return { ok: true, bytes: await blobs.read({ hash }) };
    } catch (error) {
      if (error instanceof FileError) return { ok: false, code: "interrupted" };
      if (error instanceof LostContents) return { ok: false, code: "contents_lost" };
      throw error;
    }
  }

  /** File jobs that are done in the background. */
  get outbox(): Outbox<FileJob> {
    return this.#options.outbox;
  }

  /** Performs a job. See `FileJobs`. */
  perform(job: FileJob): Promise<DeliveryResult<FileJob>> {
    return this.#options.jobs.perform(job);
  }

  /** To be called before the session is erased: nothing is written to R2 afterwards. */
  close(): Promise<void> {
    return this.#options.close();
  }

  /**
   * Stores contents that must be stored before the call is committed: contents that are too large
   * for a row, and copies of contents from contexts, because a context may be erased later. Throws
   * errors of R2, and `FileError` if a context cannot be read now.
   */
  async spill(
    { staged, results }: Pick<PayloadFiles, "staged" | "results">,
    signal: AbortSignal,
  ): Promise<void> {
    const { blobs } = this.#options;
    if (staged) {
      await blobs.spill(staged.blobs, signal);
      await this.#copyFromContexts(staged, signal);
    }
    await blobs.spill(contentsOf(results), signal);
  }

  /** Copies contents from contexts into the session's own storage. */
  async #copyFromContexts(staged: StagedChanges, signal: AbortSignal): Promise<void> {
    const { blobs } = this.#options;
    const writtenEntries = [staged.workspace, ...staged.contexts.values()].flatMap((changes) => [
      ...changes.values(),
    ]);
    for (const entry of writtenEntries) {
      if (entry === null || staged.blobs.has(entry.hash) || blobs.isKept(entry.hash)) continue;
      const contents = await this.#fromContexts(entry);
      if (!contents) continue;
      const copied = new Map([[entry.hash, contents]]);
      await blobs.spill(copied, signal);
      signal.throwIfAborted();
      blobs.add(copied);
    }
  }

  /** Contents of a context in any version that the agents can read; `null` if there are none. */
  async #fromContexts(entry: FileEntry): Promise<Uint8Array | null> {
    const { blobs, contexts, turns } = this.#options;
    if (contexts.has(entry.hash)) return contexts.read(entry);
    return blobs.has(entry.hash) ? null : turns.contents(entry);
  }

  /** See `DecidedFiles`. */
  entry(...decided: Parameters<DecidedFiles["entry"]>): FilesEntry {
    return this.#decided.entry(...decided);
  }

  /** Stores an entry. To be called inside the transaction of the events. */
  write(entry: FilesEntry): void {
    this.#decided.write(entry);
  }

  /** See `DecidedFiles`. */
  end(turn: EndedTurn): void {
    this.#decided.end(turn);
  }

  /** The states of contexts at the start and at the end of each turn. */
  get contextStates(): ContextStates {
    return this.#options.contextStates;
  }

  /**
   * Reads contents that the states of contexts at the end of a turn name, from the place that
   * stores them.
   */
  async stateContents(turn: number, hash: string): Promise<Contents> {
    const { blobs, contexts, contextStates } = this.#options;
    if (blobs.has(hash)) return this.contents(hash);
    for (const { context: name, version: base, sources, changes } of contextStates.end(turn)) {
      const entry = [...changes.values()].find((one) => one?.hash === hash);
      if (!entry) continue;
      const version = sources.get(hash) ?? base;
      try {
        const bytes = await contexts.readVersion({ name, version }, entry);
        return { ok: true, bytes: new Uint8Array(bytes) };
      } catch (error) {
        if (error instanceof FileError) return { ok: false, code: "interrupted" };
        throw error;
      }
    }
    return { ok: false, code: "file_not_found" };
  }

  /**
   * A context as the agent sees it, including the round's changes. Returns an empty list if the
   * context was erased.
   */
  #mounted(
    { name, version, writable }: ContextMount,
    agent: number,
    place: RoundPlace,
  ): [string, MountedContext][] {
    const { changes, contexts, protectedPathsOf } = this.#options;
    const start = contexts.tree({ name, version });
    if (!start) return [];
    const edits = changes.ofContext(place, name);
    const { protectedPaths, teamProtectedPaths = [] } = protectedPathsOf(agent, name);
    const tree = edits.size === 0 ? start : applyChanges(start, edits);
    return [[name, { tree, writable, protectedPaths, teamProtectedPaths, limits: CONTEXT_FILES }]];
  }

  /** A source that reads the session's own contents and the contents of contexts. */
  #source(): BlobSource {
    const { blobs } = this.#options;
    return {
      read: async (entry: FileEntry) =>
        (blobs.isKept(entry.hash) ? null : await this.#fromContexts(entry)) ?? blobs.read(entry),
    };
  }
}
