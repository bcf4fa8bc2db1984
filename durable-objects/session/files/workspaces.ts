import type { WorkspaceSettings } from "../../../src/config/team";
import {
  BASE,
  evolve,
  indexOf,
  runningTurn,
  agentAt,
  type SessionState,
  type TurnState,
  type WorkspaceFacts,
} from "../../../src/coordination";
import type { SessionEvent } from "../../../src/protocol/events";
import type {
  AgentFiles,
  BlobSource,
  FileLimits,
  MountedContext,
  Staged,
} from "../../../src/workspace/agent-files";
import { CONTEXT_LIMITS } from "../../../src/protocol/contexts";
import { handedOver } from "../../../src/workspace/handed-over";
import { type ContextMount, contextsOf, peersOf } from "../../../src/workspace/mounts";
import { readsToolResults } from "../../../src/tools/files";
import { StagedFiles } from "../../../src/workspace/staged-files";
import { applyChanges, EMPTY_TREE } from "../../../src/workspace/tree";
import { type FileEntry, FileError, type Tree } from "../../../src/workspace/types";
import { workspaceFacts } from "../../../src/workspace/workspace-facts";
import { type BlobStore, LostContents } from "./blob-store";
import type { RoundPlace } from "../calls/call-store";
import type { ChangeSet, ContextChanges } from "./context-changes";
import type { Delivered } from "../log/outbox-worker";
import {
  type AboutToBe,
  type BroughtFiles,
  type Changed,
  contentsOf,
  type EndedTurn,
  type Evicted,
  endedBy,
  type FilesEntry,
  type Frozen,
  inRound,
  isOf,
  NOTHING,
  placeOf,
  type ResultFile,
  resultName,
  withTextFile,
} from "./files-entry";
import type { FileDuties, FileDuty } from "./file-jobs";
import { FILES } from "../../shared/limits";
import type { Outbox } from "../log/outbox";
import { RejectedResults } from "./rejected-results";
import type { ContextEdits, RoundChanges } from "./round-changes";
import type { Contents, FrozenFiles } from "../session-api";
import type { AnswerFiles } from "../session-queries";
import type { SessionContexts } from "./session-contexts";
import type { SnapshotPlace, SnapshotStore } from "./snapshot-store";

type Options = {
  blobs: BlobStore;
  changes: RoundChanges;
  snapshots: SnapshotStore;
  contexts: SessionContexts;
  contextChanges: ContextChanges;
  settingsOf: (agent: number) => WorkspaceSettings | undefined;
  outbox: Outbox<FileDuty>;
  duties: FileDuties;
  /** Lets nothing begin on R2 any more; resolves when nothing is under way there. */
  close: () => Promise<void>;
};

type Named = Omit<SnapshotPlace, "label"> & { label: string | null };
/** What a context may become: what can be uploaded. */
const CONTEXT_FILES: FileLimits = {
  fileBytes: CONTEXT_LIMITS.fileBytes,
  files: CONTEXT_LIMITS.files,
  treeBytes: CONTEXT_LIMITS.bytes,
};

/**
 * The agents' files. A working tree is the tree its round began with and what the round has changed since. Answers and finals
 * freeze trees; peers see those, and the next turn begins with the last.
 */
export class Workspaces {
  readonly #options: Options;
  readonly #rejected: RejectedResults;

  constructor(options: Options) {
    this.#options = options;
    this.#rejected = new RejectedResults(options);
  }

  /** Whether the agent has a workspace. */
  has(turn: TurnState, agent: number): boolean {
    return turn.rules.agents[agent]?.workspace === true;
  }

  /** Whether calls of the agent's tools may leave files: in its workspace, or, without one, large results. */
  holdsFiles(turn: TurnState, agent: number): boolean {
    return this.has(turn, agent) || readsToolResults(turn.rules.agents[agent]?.tools ?? []);
  }

  /** To be awaited before `open`: makes known what the turn's contexts hold. Throws `FileError` if that cannot be read now. */
  prepare(turn: TurnState): Promise<void> {
    return this.#options.contexts.load(turn.contexts ?? []);
  }

  /** The agent's files for one tool call. Without a workspace the agent sees the large results of its round, and nothing else. */
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
    const peers = [...peersOf(turn, agent)].map(([alias, label]): [string, Tree] => [
      alias,
      this.#frozenTree({ ...place, label }),
    ]);
    return new StagedFiles({
      workspace: this.#working(turn, agent, NOTHING),
      peers: new Map(peers),
      contexts: new Map(
        contextsOf(turn, agent).flatMap((mount) => this.#mounted(mount, agent, place)),
      ),
      attempts: this.#rejected.of(turn, agent),
      ...common,
    });
  }

  /**
   * Each agent's workspace, by its index, with what the call of a tool (`effect`) has staged. Nothing is looked at before it is read;
   * read it at once.
   */
  facts(
    state: SessionState,
    effect: string | null,
    staged: Staged | null,
  ): Readonly<Record<number, WorkspaceFacts | null>> {
    const view: Record<number, WorkspaceFacts | null> = {};
    const turn = runningTurn(state);
    const author = effect === null ? undefined : turn?.inFlight[effect]?.agent;
    for (const { index } of turn?.attempt.agents ?? []) {
      const own = index === author ? staged : null;
      Object.defineProperty(view, index, {
        enumerable: true,
        get: () => turn && this.#factsOf(turn, index, own),
      });
    }
    return view;
  }

  /** The agent's workspace with what is staged; null where it has none. */
  #factsOf(turn: TurnState, agent: number, staged: Staged | null): WorkspaceFacts | null {
    if (!this.has(turn, agent)) return null;
    const place = placeOf(turn, agent);
    const touched = new Map([...this.#options.changes.of(place), ...(staged?.workspace ?? [])]);
    const contexts = this.#contextEdits(turn, place, staged && this.#changed(turn, place, staged));
    return workspaceFacts({
      base: this.#base(turn, agent, []),
      touched,
      previous: this.#previous(turn, agent),
      contexts,
    });
  }

  /** The files of the agent's newest answer in the attempt; null: it has none. */
  #previous({ number: turn, attempt }: TurnState, agent: number): Tree | null {
    const { snapshot } = agentAt(attempt, agent);
    return snapshot === null
      ? null
      : this.#frozenTree({ turn, attempt: attempt.number, label: snapshot });
  }

  /** The files of an answer as they were with it; null: those of the turn's result. */
  frozen(turn: number, answer: AnswerFiles | null): FrozenFiles {
    const result = answer ? null : this.#options.snapshots.resultOf(turn);
    const { attempt, label } = answer ?? result?.place ?? { attempt: 1, label: "" };
    const tree = answer
      ? this.#frozenTree({ turn, attempt, label: answer.snapshot })
      : (result?.tree ?? EMPTY_TREE);
    return { attempt, label, tree: [...tree].map(([path, entry]) => ({ path, ...entry })) };
  }

  /** Contents by their hash. */
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

  /** What is still to be done about files when no run waits for it. */
  get outbox(): Outbox<FileDuty> {
    return this.#options.outbox;
  }

  perform(duty: FileDuty): Promise<Delivered<FileDuty>> {
    return this.#options.duties.perform(duty);
  }

  /** Before the session is erased: nothing comes to R2 after this. */
  close(): Promise<void> {
    return this.#options.close();
  }

  /**
   * Puts elsewhere what fits into no row, and makes the session's own what was copied from a context, which may be erased; to be
   * awaited before it is committed. Throws what R2 throws, and `FileError` if a context cannot be read now.
   */
  async spill(
    { staged, results }: Pick<BroughtFiles, "staged" | "results">,
    signal: AbortSignal,
  ): Promise<void> {
    const { blobs } = this.#options;
    if (staged) {
      await blobs.spill(staged.blobs, signal);
      await this.#makeOwn(staged, signal);
    }
    await blobs.spill(contentsOf(results), signal);
  }

  async #makeOwn(staged: Staged, signal: AbortSignal): Promise<void> {
    const { blobs, contexts } = this.#options;
    const written = [staged.workspace, ...staged.contexts.values()].flatMap((changes) => [
      ...changes.values(),
    ]);
    for (const entry of written) {
      if (
        entry === null ||
        staged.blobs.has(entry.hash) ||
        blobs.isKept(entry.hash) ||
        !contexts.has(entry.hash)
      )
        continue;
      const copied = new Map([[entry.hash, await contexts.read(entry)]]);
      await blobs.spill(copied, signal);
      signal.throwIfAborted();
      blobs.add(copied);
    }
  }

  /** What a turn's latest final made of contexts. */
  contextChanges(turn: number): readonly ChangeSet[] {
    return this.#options.contextChanges.of(turn);
  }

  /** What these events mean for the files. Writes nothing. */
  entry(
    before: SessionState,
    events: readonly SessionEvent[],
    brought: BroughtFiles | null,
    wholeText: ResultFile | null = null,
  ): FilesEntry {
    const ended = endedBy(before, events);
    let state = before;
    let changed: Changed | null = null;
    let results: readonly Evicted[] = [];
    const hasFiles =
      runningTurn(before)?.rules.agents.some(({ workspace }) => workspace) || brought !== null;
    if (!hasFiles) return { changed, results, frozen: [], finalText: null, presented: null, ended };
    const frozen: Frozen[] = [];
    let presented: FilesEntry["presented"] = null;
    let finalText: ResultFile | null = null;
    for (const event of events) {
      const turn = runningTurn(state);
      if (turn && event.type === "tool.completed" && event.tool_call === brought?.toolCall) {
        changed =
          brought.staged &&
          this.#changed(turn, placeOf(turn, indexOf(turn, event.agent)), brought.staged);
        const place = inRound(turn, event);
        results = brought.results.map((result) => ({ place, result }));
      }
      if (turn && event.type === "presentation.completed") {
        presented = { turn: turn.number, sets: this.#changeSets(turn, event.agent, changed) };
        if (event.text_file !== undefined) finalText = wholeText;
      }
      const taken = turn && this.#frozenBy(turn, event, { changed, frozen, finalText });
      if (taken) frozen.push(taken);
      state = evolve(state, event);
    }
    return { changed, results, frozen, finalText, presented, ended };
  }

  /** Inside the transaction of the events. */
  write({ changed, results, frozen, finalText, presented, ended }: FilesEntry): void {
    const { blobs, changes, contextChanges, snapshots, outbox } = this.#options;
    if (changed) {
      blobs.add(changed.staged.blobs);
      changes.write(changed.place, changed.staged, changed);
    }
    blobs.add(contentsOf(results.map(({ result }) => result)));
    for (const one of results)
      outbox.add({ type: "upload_result", name: resultName(one), hash: one.result.hash });
    if (finalText) blobs.add(contentsOf([finalText]));
    for (const { place, tree, at } of frozen) {
      snapshots.write(place, tree);
      outbox.add({ type: "upload_snapshot", ...place, at });
    }
    if (presented) contextChanges.replace(presented.turn, presented.sets);
    if (ended !== null) this.end(ended);
  }

  /** Nobody will ask for the working trees of this turn again. Inside the transaction of its end. */
  end({ turn, hasChanges, hasContexts }: EndedTurn): void {
    const { blobs, changes, outbox } = this.#options;
    changes.forget(turn);
    if (hasContexts) outbox.add({ type: "release_contexts", turn, hasChanges });
    if (blobs.hasWorkingCopies()) outbox.add({ type: "tidy" });
  }

  /** The tree that an event freezes, after those that are about to be written; null if it freezes none. */
  #frozenBy(turn: TurnState, event: SessionEvent, about: AboutToBe): Frozen | null {
    if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return null;
    const agent = indexOf(turn, event.agent);
    const { at } = event;
    const place = { turn: turn.number, attempt: event.attempt, label: event.label };
    if (event.type === "answer.submitted") {
      return event.snapshot === event.label
        ? { place, at, tree: handedOver(this.#working(turn, agent, about)) }
        : null;
    }
    if (event.snapshot === null) return null;
    const isOwn = event.snapshot === event.label;
    if (!isOwn) return { place, at, tree: this.#base(turn, agent, about.frozen) };
    const tree = handedOver(this.#working(turn, agent, about));
    return { place, at, tree: withTextFile(tree, event.text_file, about.finalText) };
  }

  /** One context as the agent sees it, with what its round has made of it; none if it was erased. */
  #mounted(
    { name, version, writable }: ContextMount,
    agent: number,
    place: RoundPlace,
  ): [string, MountedContext][] {
    const { changes, contexts, settingsOf } = this.#options;
    const pinned = contexts.tree({ name, version });
    if (!pinned) return [];
    const edits = changes.ofContext(place, name);
    const grant = settingsOf(agent)?.contexts.find((one) => one.name === name);
    const { protectedPaths = [], teamProtectedPaths = [] } = grant ?? {};
    const tree = edits.size === 0 ? pinned : applyChanges(pinned, edits);
    return [[name, { tree, writable, protectedPaths, teamProtectedPaths, limits: CONTEXT_FILES }]];
  }

  /** The session's own contents, and those of contexts. */
  #source(): BlobSource {
    const { blobs, contexts } = this.#options;
    return {
      read: (entry: FileEntry) =>
        (blobs.isKept(entry.hash) || !contexts.has(entry.hash) ? blobs : contexts).read(entry),
    };
  }

  #changed(turn: TurnState, place: RoundPlace, staged: Staged): Changed {
    const { changes, contexts } = this.#options;
    const trees = contextsOf(turn, place.agent).flatMap((mount): [string, Tree][] => {
      const tree = mount.writable ? contexts.tree(mount) : null;
      return tree ? [[mount.name, tree]] : [];
    });
    const known = [this.#base(turn, place.agent, []), this.#previous(turn, place.agent)];
    const isKnown = (path: string) => known.some((tree) => tree?.has(path));
    return { place, staged, edits: changes.editsWith(place, staged, new Map(trees)), isKnown };
  }

  /** What the presenter has made of the contexts it may change; `changed`: with what is about to be written. */
  #changeSets(turn: TurnState, id: string, changed: Changed | null): ChangeSet[] {
    const agent = indexOf(turn, id);
    const edits = this.#contextEdits(turn, placeOf(turn, agent), changed);
    return contextsOf(turn, agent).flatMap(({ name, version }) => {
      const changes = edits.get(name) ?? EMPTY_TREE;
      return changes.size > 0 ? [{ context: name, version, changes }] : [];
    });
  }

  /** By name, what the round has made of contexts, with what is about to be written. */
  #contextEdits(turn: TurnState, place: RoundPlace, changed: Changed | null): ContextEdits {
    const edits = isOf(changed, place) ? changed.edits : null;
    const names = contextsOf(turn, place.agent).map(({ name }) => name);
    return new Map(
      names.map((name) => [name, edits?.get(name) ?? this.#options.changes.ofContext(place, name)]),
    );
  }

  /** The tree as it stands, with what is about to be written. */
  #working(turn: TurnState, agent: number, { changed, frozen }: AboutToBe): Tree {
    const place = placeOf(turn, agent);
    const tree = applyChanges(this.#base(turn, agent, frozen), this.#options.changes.of(place));
    return isOf(changed, place) ? applyChanges(tree, changed.staged.workspace) : tree;
  }

  /** What the agent's round began with: the winning files for the presenter, what the turn began with for everybody else. */
  #base({ number: turn, attempt }: TurnState, agent: number, frozen: readonly Frozen[]): Tree {
    const { settled } = attempt;
    const isPresenter = settled?.winner === agent && settled.revision !== null;
    const answer = isPresenter ? attempt.answers[(settled.revision ?? 0) - 1] : undefined;
    if (!answer) return this.#options.snapshots.baseOf(turn);
    const label = answer.snapshot;
    const unwritten = frozen.find(({ place }) => place.label === label); // one decision is about one attempt
    return unwritten?.tree ?? this.#frozenTree({ turn, attempt: attempt.number, label });
  }

  /** The files that an event names: those of a snapshot, or those that the turn began with; none for null. */
  #frozenTree({ turn, attempt, label }: Named): Tree {
    const { snapshots } = this.#options;
    if (label === null) return EMPTY_TREE;
    return label === BASE
      ? snapshots.baseOf(turn)
      : (snapshots.read({ turn, attempt, label })?.tree ?? EMPTY_TREE);
  }
}
