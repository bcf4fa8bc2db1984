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
 * A part of a result that is stored as a file: a text that is too large for the conversation, or a
 * file of the result. `name`: the file name without a directory.
 */
export type ResultFile = { name: string; hash: string; bytes: Uint8Array };

/**
 * The files of a tool call that ends: its staged changes, and the parts of its result that are not
 * in the conversation. `toolCall`: the id of the call.
 */
export type PayloadFiles = {
  toolCall: string;
  staged: StagedChanges | null;
  results: readonly ResultFile[];
};

/** Texts of an ended effect that become part of an agent's conversation. */
export type PayloadTexts = Partial<Pick<RenderInput, "reply" | "toolResult" | "cut" | "summary">>;

/** Data that is passed and stored together with an input, but that the rules do not need. */
export type EffectPayload = PayloadTexts & {
  files?: PayloadFiles | null;
  /** The file with the whole text of a reply that is too long for a final text. */
  wholeText?: ResultFile | null;
};

/**
 * The source of streamed text. `tool_index` and `name` identify the tool call whose arguments are
 * streamed.
 */
export type DeltaSource = Omit<DeltaItem, "offset" | "text">;

/**
 * Stores one entry in one synchronous transaction, and publishes it to readers once it is on disk.
 * To be called without an `await` after the entry was computed. `at`: the entry's time, unix ms.
 */
export type Commit = (at: number) => void;

/** A turn that has not ended: the last turn of the log. `firstSeq`: the number of its first row. */
export type OpenTurn = { turn: number; firstSeq: number };

/**
 * A session as computed from its log. `open`: the open turn; `null` if there is none. `broken`: the
 * error if the open turn cannot be folded (then `state` is the state before this turn), else
 * `null`.
 */
export type RestoredSession = { state: SessionState; open: OpenTurn | null; broken: unknown };

/**
 * The files that a tool call has staged. `effect`: the id of its effect; `null` if the input does
 * not concern an effect.
 */
export type StagedCall = { effect: string | null; staged: StagedChanges | null };

/** The session's tables, as the engine needs them. */
export type SessionStorage = {
  /** Computes the session's state from its log. */
  restore(): RestoredSession;
  /** Text that models streamed in the open turn before the restart, in order. */
  streamedSince(open: OpenTurn): Iterable<DeltaItem>;
  /** Facts about the agent's workspace for `decide`; `null` if the agent has none. */
  workspace(before: SessionState, agent: number, call: StagedCall): WorkspaceFacts | null;
  /**
   * Computes everything that is stored with these steps. Writes nothing; throws if the steps cannot
   * be stored. If `payload` is `null`, nothing is added to conversations.
   */
  prepare(steps: readonly Step[], payload: EffectPayload | null): Commit;
  /** Computes the end of an open turn that cannot be folded. `at`: the time of the end, unix ms. */
  prepareBrokenEnd(open: OpenTurn, at: number): { events: readonly SessionEvent[]; commit: Commit };
  /**
   * Stores streamed text of a reply. `point`: the point directly after the text at which the reply
   * can be resumed; `null` if unknown.
   */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void;
  /** Stores a point at which a call can be resumed and before which it has streamed no new text. */
  notePoint(call: string, point: ResumePoint): void;
};

/** One alarm that outlives the process. */
export type AlarmStore = {
  /** Replaces the current alarm. `at`: unix ms, by the wall clock. */
  setAlarm(at: number): Promise<void>;
  deleteAlarm(): Promise<void>;
};

/**
 * The environment that a session runs in: its storage with its readers, its alarm and its clock.
 */
export type SessionHost = {
  readonly sessionId: string;
  /** The number of times that the session was loaded while a turn ran, including this time. */
  readonly boot: number;
  readonly storage: SessionStorage;
  readonly alarm: AlarmStore;
  /** The session's time, unix ms. It never runs backwards. */
  now(): number;
  /** Keeps the session in memory until the work has ended. */
  waitUntil(work: Promise<unknown>): void;
  /**
   * Reports an internal error. If the platform failed, throws; the session is then loaded again
   * from its storage.
   */
  report(error: unknown): void;
};

/** The part of a session that performers of effects use: they read its state and report inputs. */
export type SessionInputs = {
  readonly state: SessionState;
  /**
   * Decides an input, stores its events and performs the effects that the new state owes. Returns
   * the events. Throws only if a turn cannot be started; then nothing was written.
   */
  handle(input: InputBody, payload?: EffectPayload): readonly SessionEvent[];
};

/**
 * The reports of calls while their replies stream. A report is ignored if the rules no longer wait
 * for its call.
 */
export type StreamInputs = {
  write: SessionStorage["write"];
  notePoint: SessionStorage["notePoint"];
  /** Records the usage that the provider has reported so far for a call in flight. */
  noteUsage(call: string, usage: Usage): void;
};

/**
 * Performs effects. A model call has four steps. `admitCall` waits for the rate limits of its
 * backend. `prepareCall` asks the rules whether the call may start. `PreparedCall.send` sends the
 * call and streams the reply. The function that `send` returns reports the end of the call.
 */
export type Performer = {
  /**
   * Resolves once the backend's rate limits allow the call to start; the call holds no slot
   * meanwhile. Throws `signal.reason`. Returns `null` if there are no limits to wait for.
   */
  admitCall(effect: ModelCallEffect, signal: AbortSignal): Promise<void> | null;
  /**
   * To be called when a call has ended or is no longer needed. If the call was admitted but not
   * sent, releases its share of the rate limits. No effect for any other call.
   */
  dropCall(effect: ModelCallEffect): void;
  /**
   * Prepares the call for sending, and logs `call.started`. Returns `null` if the call is no longer
   * owed or the budget cannot pay for it now.
   */
  prepareCall(effect: ModelCallEffect): PreparedCall | null;
  /**
   * Prepares a call that was in flight before a restart to be resumed; `null` if the call must be
   * repeated.
   */
  resumeCall(effect: ModelCallEffect): PreparedCall | null;
  /**
   * Runs one of an agent's own tools, from its logged start to its logged end. Acquires a slot only
   * if the tool calls a server. If the service lost the call, returns the function that reports it.
   */
  performTool(
    effect: ToolCallEffect,
    signal: AbortSignal,
    acquireSlot: AcquireSlot,
  ): Promise<(() => void) | undefined>;
  /**
   * Lists the tools of an agent's servers, and reports them to the rules. Its requests have
   * separate slots.
   */
  listTools(effect: ToolListingEffect, signal: AbortSignal): Promise<void>;
};

/** A call that is ready to be sent or resumed. */
export type PreparedCall = {
  /**
   * Sends the call and streams its reply. Returns the function that reports the end of the call.
   * Throws only `signal.reason`.
   */
  send(signal: AbortSignal, slot: CallSlot): Promise<() => void>;
};

/**
 * A slot of a relay. Each session has several relays, which send its requests. `relay`: the number
 * of the relay, from 0.
 */
export type RelaySlot = { relay: number; release: () => void };

/** The slot that a call holds until its headers arrive. */
export type Slot = Pick<RelaySlot, "relay"> & {
  /** To be called when the response headers have arrived, or will not arrive. Releases the slot. */
  onHeaders: () => void;
  /**
   * Aborted if the call must yield its slot before its headers have arrived. The reason is the
   * ProviderError that the call then fails with.
   */
  yieldSignal: AbortSignal;
};

/** The slot of a model call, whose request is built while no other request is built. */
export type CallSlot = Slot & {
  /**
   * To be called when the request is built, with the size of its body. Resolves when there is
   * memory for it: the call sends it then, and the next request may be built. Throws the signal's
   * reason.
   */
  onBuilt: (bytes: number) => Promise<void>;
};

/**
 * Acquires the effect's slot. To be called once, directly before the request. The slot is released
 * at the end of the effect at the latest. Throws `signal.reason`.
 */
export type AcquireSlot = () => Promise<Slot>;

/**
 * A limited number of slots; callers wait in order. `onYield`: asks the holder to release its slot
 * soon; `null` if the holder may keep its slot.
 */
export type SlotSource<Granted> = {
  acquire(signal: AbortSignal, onYield: (() => void) | null): Promise<Granted>;
};

/** A limited memory for the bodies of requests that wait for response headers. */
export type RequestMemorySource = {
  /**
   * Waits until there is memory for a request of this size, and returns the function that releases
   * it. Called by one caller at a time. Throws `signal.reason`. For `onYield` see `SlotSource`.
   */
  hold(bytes: number, signal: AbortSignal, onYield: (() => void) | null): Promise<() => void>;
};

/** Work that continues after the end of a turn and that no turn waits for, such as uploads. */
export type BackgroundWork = {
  /**
   * Starts work that is due; `null` if no work is due, or if the work is already running. `onIdle`:
   * called when no work is due.
   */
  start(onIdle: () => void): Promise<void> | null;
  /** When `start` should be called again, unix ms; `null` if there is no work. */
  nextAt(now: number): number | null;
};
