import type { RenderInput } from "../agents/records";
import type {
  InputBody,
  ModelCallEffect,
  SessionState,
  Step,
  ToolCallEffect,
  ToolListingEffect,
  WorkspaceFacts,
} from "../coordination";
import type { DeltaItem, SessionEvent, Usage } from "../protocol/events";
import type { ResumePoint } from "../providers/provider";
import type { StagedChanges } from "../workspace/agent-files";

/**
 * The text of a result that is too large for the conversation, or a file that came with it. `name`:
 * of its file, without a directory.
 */
export type ResultFile = { name: string; hash: string; bytes: Uint8Array };

/**
 * What a tool call that settles has staged, and the parts of its result that are not for the
 * conversation.
 */
export type PayloadFiles = {
  toolCall: string;
  staged: StagedChanges | null;
  results: readonly ResultFile[];
};

/** Texts of an effect that become part of an agent's conversation. */
export type PayloadTexts = Partial<Pick<RenderInput, "reply" | "toolResult" | "cut" | "summary">>;

/** What comes with an input and is stored with it, but is not for the rules. */
export type EffectPayload = PayloadTexts & {
  files?: PayloadFiles | null;
  /** The whole text of a reply that is too long for a final text, to be kept as a file. */
  wholeText?: ResultFile | null;
};

/**
 * The source of streamed text. `tool_index` and `name` identify the tool call whose arguments are
 * streamed.
 */
export type DeltaSource = Omit<DeltaItem, "offset" | "text">;

/**
 * Stores one entry in one synchronous transaction, and publishes it to readers once it is on disk.
 * To be called at once, with the entry's time.
 */
export type Commit = (at: number) => void;

/** The turn that the log ends in. `firstSeq`: the number of its first row. */
export type OpenTurn = { turn: number; firstSeq: number };

/**
 * The session as its log has it. `broken`: why the open turn does not fold; then `state` is the
 * state before it.
 */
export type RestoredSession = { state: SessionState; open: OpenTurn | null; broken: unknown };

/** The files that a tool call has staged. `effect`: `null` if the input is about no effect. */
export type StagedCall = { effect: string | null; staged: StagedChanges | null };

/** The session's tables, as the engine needs them. */
export type SessionStorage = {
  restore(): RestoredSession;
  /** Text that models streamed in the open turn before the restart, in order. */
  streamedSince(open: OpenTurn): Iterable<DeltaItem>;
  /** The agent's workspace, for `decide`; `null` if the agent has none. */
  workspace(before: SessionState, agent: number, call: StagedCall): WorkspaceFacts | null;
  /**
   * Computes everything that is stored with these steps; writes nothing. Throws what makes it
   * impossible. `payload` `null`: no conversation gains anything.
   */
  prepare(steps: readonly Step[], payload: EffectPayload | null): Commit;
  /** The end, at `at`, of an open turn that does not fold. */
  prepareBrokenEnd(open: OpenTurn, at: number): { events: readonly SessionEvent[]; commit: Commit };
  /** A piece of a reply that streams in. `point`: where the reply can be resumed right after it. */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void;
  /** Where a call can be resumed that has streamed no text yet. */
  notePoint(call: string, point: ResumePoint): void;
};

/** One alarm that outlives the process. */
export type AlarmStore = {
  /** Replaces the alarm that is set. `at`: unix ms, by the wall clock. */
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
};

/** The place a session runs in: its storage with its readers, its alarm, its clock. */
export type SessionHost = {
  readonly sessionId: string;
  /** How often the session was loaded while a turn ran, this time included. */
  readonly boot: number;
  readonly storage: SessionStorage;
  readonly alarm: AlarmStore;
  /** The session's time, unix ms: it never runs backwards. */
  now(): number;
  /** Keeps the process until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
  /**
   * Reports an internal error. Throws if the platform failed: then the session is loaded again
   * from its storage.
   */
  report(error: unknown): void;
};

/** The session as performers of effects see it: they read its state and report what happened. */
export type SessionInputs = {
  readonly state: SessionState;
  /**
   * Decides an input, stores its events and performs the effects that are then owed; returns the
   * events. Throws only if a turn cannot even be started, and then nothing was
   * written.
   */
  handle(input: InputBody, payload?: EffectPayload): readonly SessionEvent[];
};

/**
 * What calls report while their replies stream. Ignored once the rules no longer wait for the call.
 */
export type StreamInputs = {
  write: SessionStorage["write"];
  notePoint: SessionStorage["notePoint"];
  /** What a call in flight is known to cost so far. */
  noteUsage(call: string, usage: Usage): void;
};

/**
 * Performs effects. A model call has four steps. `admitCall` waits for its backend's limits.
 * `prepareCall` asks the rules whether the call may start. `send` sends it. The function that
 * `send` returns reports its end.
 */
export type Performer = {
  /**
   * Ends once the backend's limits let the call start; the call holds no slot meanwhile. Throws
   * `signal.reason`. `null` if there are no limits to wait for.
   */
  admitCall(effect: ModelCallEffect, signal: AbortSignal): Promise<void> | null;
  /**
   * The call has ended or is no longer wanted. A call that was admitted and not sent returns its
   * share. May be called for any call.
   */
  dropCall(effect: ModelCallEffect): void;
  /**
   * The call, ready to be sent; `null` if it is no longer owed or cannot be paid now. Logs
   * `call.started`.
   */
  prepareCall(effect: ModelCallEffect): PreparedCall | null;
  /**
   * A call that was in flight before a restart and can be resumed; `null` if it must be made again.
   */
  resumeCall(effect: ModelCallEffect): PreparedCall | null;
  /**
   * Runs one of an agent's own tools from its logged start to its logged end. Enters only if it
   * calls a server.
   */
  performTool(effect: ToolCallEffect, signal: AbortSignal, acquireSlot: AcquireSlot): Promise<void>;
  /**
   * Lists the tools of an agent's servers, and reports them. It has its own places to wait for
   * headers in.
   */
  listTools(effect: ToolListingEffect, signal: AbortSignal): Promise<void>;
};

export type PreparedCall = {
  /** Sends the call. Throws only `signal.reason`. */
  send(signal: AbortSignal, slot: CallSlot): Promise<() => void>;
};

/** The slot that a call holds until its headers arrive. */
export type Slot = {
  /** The response's headers are there, or will not come. */
  onHeaders: () => void;
  /**
   * Aborted if the call must give its slot away before its headers came; the reason is the
   * ProviderError it fails with.
   */
  yieldSignal: AbortSignal;
};

export type CallSlot = Slot & {
  /** The request is complete and leaves: the next request may be built. */
  onSent: () => void;
};

/**
 * Takes a slot, once, when everything that comes before the request is done. The slot is released
 * with the end of the effect at the latest. Throws `signal.reason`.
 */
export type AcquireSlot = () => Promise<Slot>;

/**
 * A limited number of slots; callers wait in order. `onYield`: asks the holder to release its slot
 * soon; `null` if the holder may keep its slot.
 */
export type SlotSource = {
  acquire(signal: AbortSignal, onYield: (() => void) | null): Promise<() => void>;
};

/** Work that outlives turns and that no run waits for, such as uploads. */
export type BackgroundWork = {
  /**
   * Starts due work; `null` if no work is due, or if it is already running. `onIdle`: called when
   * nothing is due any more.
   */
  start(onIdle: () => void): Promise<void> | null;
  /** When to look again, unix ms; `null` if nothing is left. */
  nextAt(now: number): number | null;
};
