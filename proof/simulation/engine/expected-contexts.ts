import type { EventOf } from "../../../src/protocol/events";
import type { NumberedEvent } from "../../../checker";
import { entryOf, type Files, SITE, type SimulatedContexts, type Version } from "./contexts";
import type { ProjectStart } from "./project-user";
import type { ReceivedRequest } from "./received-request";

/**
 * The states of the context of a simulated project, computed by the rules of
 * docs/explain/contexts.md from the pushed versions and from the tool calls of the simulated
 * models. The code of the service is not used.
 */

/** `{sha256} {size}` by path, and the version that the turn used. */
export type StoredState = { version: string; files: Readonly<Record<string, string>> };
/** `conflicts`: sorted paths that both sides changed since the parent turn. */
type ExpectedTurn = { state: StoredState; conflicts: readonly string[] };

/** `parent`: the turn that it continues; `null` for none. */
type TurnFiles = {
  parent: number | null;
  version: Version;
  start: Files;
  end: Files;
  conflicts: readonly string[];
};
type FileCall = ReceivedRequest["calls"][number];
type Project = { contexts: SimulatedContexts; starts: readonly ProjectStart[] };

const PREFIX = `/contexts/${SITE}/`;
const DECISIONS: ReadonlySet<string> = new Set([
  "new_answer",
  "vote",
  "submit",
  "restart_orchestration",
  "assign_personas",
]);

/** The state of the context at the end of each turn that has ended. */
export function expectedContextsOf(
  log: readonly NumberedEvent[],
  requests: readonly ReceivedRequest[],
  project: Project,
): ReadonlyMap<number, ExpectedTurn> {
  const tracker = new ContextTracker(requests, project);
  for (const event of log) if (event.type !== "stream.delta") tracker.apply(event);
  return new Map(
    [...tracker.ended].map(([turn, { version, end, conflicts }]) => [
      turn,
      { state: { version: version.id, files: toStored(end) }, conflicts },
    ]),
  );
}

/** Files in the form in which they are compared. */
const toStored = (files: Files): StoredState["files"] =>
  Object.fromEntries(
    [...files]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, text]) => {
        const { hash, size } = entryOf(text);
        return [path, `${hash} ${size}`];
      }),
  );

const hashOf = (text: string | undefined): string | null =>
  text === undefined ? null : entryOf(text).hash;

class ContextTracker {
  readonly ended = new Map<number, TurnFiles>();
  readonly #calls: ReadonlyMap<string, ReceivedRequest["calls"]>;
  readonly #project: Project;
  #pendingCalls = new Map<string, FileCall>();
  /** The running turn. `finals`: the state with each attempt's final text. */
  #turn: (TurnFiles & { finals: Map<number, Files> }) | null = null;
  /** The state of each agent's round. */
  #edited = new Map<string, Map<string, string>>();

  constructor(requests: readonly ReceivedRequest[], project: Project) {
    const replies = requests.filter(({ kind }) => kind === "reply");
    this.#calls = new Map(replies.map(({ call, calls }) => [call, calls]));
    this.#project = project;
  }

  apply(event: NumberedEvent): void {
    switch (event.type) {
      case "turn.started":
        this.#begin(event);
        return;
      case "round.started":
        if (event.carries === undefined) this.#edited.delete(event.agent);
        return;
      case "presentation.started":
        this.#edited.delete(event.agent);
        return;
      case "call.completed":
        return this.#onReply(event);
      case "tool.completed":
        return this.#onToolResult(event);
      case "presentation.completed":
        this.#turn?.finals.set(event.attempt, this.#filesOf(event.agent));
        return;
      case "turn.completed":
      case "turn.failed":
      case "turn.cancelled":
        return this.#end(event);
      default:
        return;
    }
  }

  #begin({ turn, parent_turn }: EventOf<"turn.started">): void {
    const { contexts, starts } = this.#project;
    const start = starts.find((one) => one.turn === turn);
    const version = contexts.version(start?.version ?? "");
    if (!start || !version) return;
    const parent = parent_turn === null ? undefined : this.ended.get(parent_turn);
    const { files, conflicts } = parent
      ? this.#merged(parent, version, start)
      : { files: version.files, conflicts: [] };
    const states = { start: files, end: files, finals: new Map() };
    this.#turn = { parent: parent_turn, version, conflicts, ...states };
    this.#edited = new Map();
  }

  /** The user's version and the parent's result, file by file. */
  #merged(parent: TurnFiles, version: Version, { winner }: ProjectStart) {
    const leftOut = new Set([...(version.entry?.left_out ?? []), ...version.leftOut.keys()]);
    const files = new Map<string, string>();
    const conflicts: string[] = [];
    for (const path of new Set([...parent.end.keys(), ...version.files.keys()])) {
      const [ours, theirs] = [parent.end.get(path), version.files.get(path)];
      const before = this.#baseOf(path, parent, version);
      const isTurns = leftOut.has(path) || ours === theirs || hashOf(theirs) === before;
      const isConflict = !isTurns && hashOf(ours) !== before;
      if (isConflict) conflicts.push(path);
      const text = isTurns || (isConflict && winner === "turn") ? ours : theirs;
      if (text !== undefined) files.set(path, text);
    }
    return { files, conflicts: conflicts.sort() };
  }

  /** The hash of the base of a file; `null` if the base has no such file. */
  #baseOf(path: string, parent: TurnFiles, { entry, files }: Version): string | null {
    const before = parent.version.entry;
    const ofFolder = entry?.bases?.find((base) => base.path === path);
    const recorded = entry ? this.ended.get(entry.turn) : undefined;
    const isSameTurn = entry?.turn === before?.turn;
    const isSentAgain =
      isSameTurn && before?.left_out?.includes(path) && !entry?.left_out?.includes(path);
    const isKnown = isSameTurn && !isSentAgain;
    if (!isKnown && ofFolder) return ofFolder.sha256;
    const known = (isKnown ? parent.version.files : recorded?.end)?.get(path);
    const isOfBranch = parent.version.leftOut.has(path) && files.has(path) && !isSentAgain;
    return hashOf(known === undefined && isOfBranch ? this.#lastContents(path, parent) : known);
  }

  /** The contents of a file in the newest version of the branch that says something about it. */
  #lastContents(path: string, from: TurnFiles): string | undefined {
    let turn: TurnFiles | undefined = from;
    while (turn && !turn.version.files.has(path) && turn.version.leftOut.has(path))
      turn = turn.parent === null ? undefined : this.ended.get(turn.parent);
    return turn?.version.files.get(path);
  }

  #filesOf(agent: string): Map<string, string> {
    return this.#edited.get(agent) ?? new Map(this.#turn?.start);
  }

  #onReply({ call, tools }: EventOf<"call.completed">): void {
    const own = (this.#calls.get(call) ?? []).filter(({ name }) => !DECISIONS.has(name));
    for (const [nth, { tool_call, name }] of tools.entries()) {
      const called = own[nth];
      if (called?.name === name) this.#pendingCalls.set(tool_call, called);
    }
  }

  #onToolResult({ agent, tool_call, outcome }: EventOf<"tool.completed">): void {
    const call = this.#pendingCalls.get(tool_call);
    this.#pendingCalls.delete(tool_call);
    if (outcome !== "ok" || !call) return;
    const { path = "", content = "" }: Record<string, string> = JSON.parse(call.arguments);
    if (!path.startsWith(PREFIX)) return;
    const files = this.#filesOf(agent);
    if (call.name === "write_file") files.set(path.slice(PREFIX.length), content);
    if (call.name === "delete_file") files.delete(path.slice(PREFIX.length));
    this.#edited.set(agent, files);
  }

  /** A turn without a result ends with its start. */
  #end(event: EventOf<"turn.completed" | "turn.failed" | "turn.cancelled">): void {
    if (!this.#turn) return;
    const { parent, version, start, finals, conflicts } = this.#turn;
    const final = event.type === "turn.completed" ? finals.get(event.attempt) : undefined;
    this.ended.set(event.turn, { parent, version, start, end: final ?? start, conflicts });
    this.#turn = null;
  }
}
