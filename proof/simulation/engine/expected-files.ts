import { sha256 } from "../../../local/sha256";
import type { EventOf } from "../../../src/protocol/events";
import type { StoredSnapshots } from "../../../simulated/stored-snapshots";
import type { NumberedEvent } from "../../../checker";
import type { Workspace } from "../../../checker/types";
import type { ReceivedRequest } from "./received-request";

/**
 * The files that answers and final texts must have. They are computed by the protocol's rules from
 * the file tools that the simulated models called. The log only says when each tool call ended, and
 * whether it succeeded.
 */
type ExpectedFiles = {
  /**
   * The files of each answer and final text that has its own snapshot, by
   * `{turn}/{attempt}/{label}`.
   */
  trees: ReadonlyMap<string, Tree>;
  /** Each agent's workspace when it answered or presented, by the event's sequence number. */
  workspaces: ReadonlyMap<number, Workspace>;
  /** Tool calls that the log contains although they are impossible. */
  problems: readonly string[];
};

/** Contents by path. A tree is never changed; a new tree replaces it. */
type Tree = ReadonlyMap<string, string>;
type FileCall = ReceivedRequest["calls"][number];
type Answer = { agent: string; tree: Tree };
type AgentFiles = {
  /** The agent's present workspace. */
  working: Tree;
  /** Paths that tools of the round wrote or deleted. */
  touched: Set<string>;
  /** The files of the agent's newest answer; `null` before its first one. */
  kept: Tree | null;
  /** The label of the newest answer of each author that the agent was shown. */
  shown: Map<string, string>;
  /** Tool calls without a logged result, by id. */
  pendingCalls: Map<string, FileCall>;
};

const EMPTY: Tree = new Map();
const WORKSPACE = "/workspace/";
/** Names of the orchestrator's tools. All other calls use the agent's tools. */
const DECISIONS: ReadonlySet<string> = new Set([
  "new_answer",
  "vote",
  "submit",
  "restart_orchestration",
  "assign_personas",
]);

/** `requests`: the requests that the simulated providers received. */
export function expectedFilesOf(
  log: readonly NumberedEvent[],
  requests: readonly ReceivedRequest[],
): ExpectedFiles {
  const tracker = new FileTracker(requests);
  const [created] = log;
  const hasFiles =
    created?.type === "session.created" && created.rules.agents.some(({ workspace }) => workspace);
  if (hasFiles) for (const event of log) if (event.type !== "stream.delta") tracker.apply(event);
  return tracker;
}

/** The trees in the form of snapshots that are read from storage: `{sha256} {size}` by path. */
export function toStoredTrees(trees: ReadonlyMap<string, Tree>): StoredSnapshots["trees"] {
  const storedForms = new Map<string, string>();
  const storedForm = (contents: string): string => {
    const text = storedForms.get(contents) ?? `${sha256(contents)} ${Buffer.byteLength(contents)}`;
    storedForms.set(contents, text);
    return text;
  };
  const files = (tree: Tree) =>
    Object.fromEntries([...tree].map(([path, contents]) => [path, storedForm(contents)]));
  return Object.fromEntries([...trees].map(([name, tree]) => [name, files(tree)]));
}

class FileTracker implements ExpectedFiles {
  readonly trees = new Map<string, Tree>();
  readonly workspaces = new Map<number, Workspace>();
  readonly problems: string[] = [];
  /** The tool calls of each reply, by the model call's id. */
  readonly #calls: ReadonlyMap<string, ReceivedRequest["calls"]>;
  /** Agents with a workspace. */
  readonly #owners = new Set<string>();
  #aliases: Readonly<Record<string, string>> = {};
  /** The files at the start of the turn. */
  #base: Tree = EMPTY;
  /** The files that each ended turn has left, by its number. */
  readonly #ends = new Map<number, Tree>();
  #answers = new Map<string, Answer>();
  #agentFiles = new Map<string, AgentFiles>();

  constructor(requests: readonly ReceivedRequest[]) {
    const replies = requests.filter(({ kind }) => kind === "reply");
    this.#calls = new Map(replies.map(({ call, calls }) => [call, calls]));
  }

  apply(event: NumberedEvent): void {
    switch (event.type) {
      case "session.created":
        for (const { id, workspace } of event.rules.agents) if (workspace) this.#owners.add(id);
        return;
      case "turn.started":
        this.#aliases = event.aliases;
        this.#base = this.#ends.get(event.parent_turn ?? 0) ?? EMPTY;
        return;
      case "attempt.started":
        this.#answers = new Map();
        this.#agentFiles = new Map();
        return;
      case "round.started":
        // A round that continues a lost round keeps the lost round's files and touched paths.
        if (event.carries === undefined)
          Object.assign(this.#filesOf(event.agent), { working: this.#base, touched: new Set() });
        return this.#show(event);
      case "answers.injected":
        return this.#show(event);
      case "call.completed":
        return this.#onReply(event);
      case "tool.completed":
        return this.#onToolResult(event);
      case "answer.submitted":
        return this.#onAnswer(event);
      case "presentation.started":
        return this.#onPresentationStart(event);
      case "presentation.completed":
        return this.#onPresentationEnd(event);
      case "turn.completed":
        this.#ends.set(event.turn, this.#resultOf(event) ?? this.#base);
        return;
      case "turn.failed":
      case "turn.cancelled":
        this.#ends.set(event.turn, this.#base);
        return;
      default:
        return;
    }
  }

  #filesOf(agent: string): AgentFiles {
    const existing = this.#agentFiles.get(agent);
    if (existing) return existing;
    const agentFiles: AgentFiles = {
      working: this.#base,
      touched: new Set(),
      kept: null,
      shown: new Map(),
      pendingCalls: new Map(),
    };
    this.#agentFiles.set(agent, agentFiles);
    return agentFiles;
  }

  #show({ agent, labels }: EventOf<"round.started" | "answers.injected">): void {
    const { shown } = this.#filesOf(agent);
    for (const label of labels) shown.set(this.#answers.get(label)?.agent ?? "", label);
  }

  /** The log lists the tools of a reply in the order in which the model called them. */
  #onReply({ agent, call, tools }: EventOf<"call.completed">): void {
    const { pendingCalls } = this.#filesOf(agent);
    const own = (this.#calls.get(call) ?? []).filter(({ name }) => !DECISIONS.has(name));
    for (const [nth, { tool_call, name }] of tools.entries()) {
      const called = own[nth];
      if (called?.name === name) pendingCalls.set(tool_call, called);
      else
        this.problems.push(`${call} is logged as calling ${name}, but its model did not call it`);
    }
  }

  #onToolResult({ agent, tool_call, outcome }: EventOf<"tool.completed">): void {
    const agentFiles = this.#filesOf(agent);
    const call = agentFiles.pendingCalls.get(tool_call);
    agentFiles.pendingCalls.delete(tool_call);
    if (outcome === "ok" && call) agentFiles.working = this.#treeAfter(agentFiles, call);
  }

  /** The working tree after a successful call. */
  #treeAfter(agentFiles: AgentFiles, { name, arguments: text }: FileCall): Tree {
    const tree = new Map(agentFiles.working);
    const args: Record<string, string> = JSON.parse(text);
    const absolute = args["path"] ?? args["destination"] ?? "";
    if (!absolute.startsWith(WORKSPACE)) return tree;
    const path = absolute.slice(WORKSPACE.length);
    switch (name) {
      case "write_file":
        agentFiles.touched.add(path);
        return tree.set(path, args["content"] ?? "");
      case "delete_file":
        agentFiles.touched.add(path);
        if (!tree.delete(path)) this.problems.push(`${path} was deleted, but it did not exist`);
        return tree;
      case "copy_file":
        for (const [below, contents] of this.#peerFiles(agentFiles, args["source"] ?? "")) {
          agentFiles.touched.add(`${path}/${below}`);
          tree.set(`${path}/${below}`, contents);
        }
        return tree;
      default:
        return tree;
    }
  }

  /**
   * The files of an answer that the agent was shown, as they were when the answer was submitted.
   */
  #peerFiles({ shown }: AgentFiles, source: string): Tree {
    const label = [...shown].find(([author]) => source === `/peers/${this.#aliases[author]}`)?.[1];
    const answer = this.#answers.get(label ?? "");
    if (!answer) this.problems.push(`${source} was copied by an agent that was not shown it`);
    return answer?.tree ?? EMPTY;
  }

  /**
   * The facts of the agent's present workspace. `previous`: the files of its previous answer;
   * `null` if there is none, or for a presentation.
   */
  #workspace({ working, touched }: AgentFiles, previous: Tree | null): Workspace {
    const leftOutPaths = [...(previous?.keys() ?? [])]
      .filter((path) => !working.has(path) && !touched.has(path))
      .sort();
    const facts = { files: working.size, changed: touched.size > 0 };
    const leftOut = { count: leftOutPaths.length, paths: leftOutPaths.slice(0, 20) };
    return facts.changed && leftOut.count > 0 ? { ...facts, leftOut } : facts;
  }

  /** A round without changes creates no snapshot: the answer keeps the previous files. */
  #onAnswer({
    sequence_number,
    turn,
    attempt,
    agent,
    label,
  }: EventOf<"answer.submitted"> & NumberedEvent): void {
    const agentFiles = this.#filesOf(agent);
    const { working, touched, kept } = agentFiles;
    const tree = touched.size === 0 ? (kept ?? this.#base) : working;
    this.#answers.set(label, { agent, tree });
    if (!this.#owners.has(agent)) return;
    const keptCount = touched.size === 0 ? { kept: tree.size } : {};
    this.workspaces.set(sequence_number, { ...this.#workspace(agentFiles, kept), ...keptCount });
    if (touched.size > 0) this.trees.set(`${turn}/${attempt}/${label}`, working);
    agentFiles.kept = tree;
  }

  /** The presenter starts from the winning answer's files and sees the files of all answers. */
  #onPresentationStart({ agent, label }: EventOf<"presentation.started">): void {
    const agentFiles = this.#filesOf(agent);
    agentFiles.working =
      (label === null ? undefined : this.#answers.get(label)?.tree) ?? this.#base;
    agentFiles.touched = new Set();
    for (const [newest, { agent: author }] of this.#answers) agentFiles.shown.set(author, newest);
  }

  /** The result is the presenter's workspace, even if the winning answer replaces its text. */
  #onPresentationEnd({
    sequence_number,
    turn,
    attempt,
    agent,
    label,
  }: EventOf<"presentation.completed"> & NumberedEvent): void {
    if (!this.#owners.has(agent)) return;
    const agentFiles = this.#filesOf(agent);
    this.workspaces.set(sequence_number, this.#workspace(agentFiles, null));
    this.trees.set(`${turn}/${attempt}/${label}`, agentFiles.working);
  }

  /** The files of the final text that completed a turn; `null` if its presenter has no files. */
  #resultOf({ turn, attempt }: EventOf<"turn.completed">): Tree | null {
    const prefix = `${turn}/${attempt}/`;
    const final = [...this.trees].find(
      ([name]) => name.startsWith(prefix) && name.endsWith(".final"),
    );
    return final?.[1] ?? null;
  }
}
