/** Limits of the protocol. Times in ms, sizes in UTF-8 bytes. */
export const LIMITS = {
  agents: 64,
  roundsPerAgent: 20,
  /** Default if the team's rules have no value, as in logs of earlier versions. */
  callsPerRound: 50,
  /** Calls that ask only for a decision, after the round's calls or time are used up. */
  decisionCallsPerRound: 3,
  /** The agent gets a notice when it has this many calls left. */
  callsLeftNotice: 3,
  /**
   * Time for a decision after the round's time is used up. Never longer than the round's own time.
   */
  decisionMs: 60_000,
  /**
   * Before a turn or its coordination ends, agents get a notice and later decision calls. The
   * shares are of the turn's time.
   */
  lastNoticeMs: 120_000,
  lastNoticeShare: 0.1,
  lastDecisionMs: 60_000,
  lastDecisionShare: 0.05,
  /** Calls and tools of a turn per agent, and the bounds of the sum. */
  effectsPerAgent: 400,
  effectsMin: 1_000,
  effectsMax: 16_000,
  triesPerCall: 5,
  interruptionsPerCall: 5,
  /**
   * The agent fails after this many failed probes of a provider in a row, if they span at least
   * `unreachableMs`.
   */
  probesPerCall: 3,
  unreachableMs: 10_000,
  failedRoundsInARow: 3,
  nudgesPerRound: 3,
  toolsPerReply: 64,
  /** Maximum length in the log of a message from a tool with unknown outcome. */
  toolMessageBytes: 1_000,
  toolsAtOnce: 8,
  /** Listings of one server for one agent in a turn. Later changes are ignored. */
  listingsPerServer: 8,
  /** Elicitations forwarded per tool call, and requests forwarded of each. */
  inputsPerCall: 3,
  requestsPerInput: 5,
  /**
   * Progress notifications forwarded per tool call, and the first pause between two; pauses grow
   * (`tool/tool-notifications.ts`).
   */
  progressPerCall: 20,
  progressPauseMs: 1_000,
  /**
   * Maximum length of each text from a tool server that is shown to people, in UTF-16 code units.
   */
  notificationChars: 2_048,
  /**
   * Lines of one audit event. This many lines with the longest paths, as JSON, fit into one row.
   */
  accessesPerEvent: 600,
  answerBytes: 128 * 1024,
  /**
   * Total size of an attempt's answers, replaced ones included: the state of a running turn holds
   * them. Above it no further answer is accepted.
   */
  attemptAnswersBytes: 8 * 1024 * 1024,
  finalBytes: 256 * 1024,
  reasonBytes: 4 * 1024,
  /**
   * Total size of a cancelled turn's answer and text as JSON: one event, stored in one row, holds
   * both.
   */
  cancelledJsonBytes: 1_700_000,
  /** A provider that asks for a longer wait counts as out of quota. */
  retryAfterMs: 60_000,
  backoffBaseMs: 500,
  backoffCapMs: 30_000,
  graceShare: 0.1,
  graceMinMs: 250,
  graceMaxMs: 5_000,
  personasShare: 0.1,
  personasMaxMs: 120_000,
  presentationShare: 0.2,
  presentationMaxMs: 120_000,
  /**
   * Share of the context window above which an update starts a new round instead of extending the
   * conversation.
   */
  contextShare: 0.75,
  /** Share of the context window above which a conversation is summarized before its next call. */
  fullShare: 0.85,
} as const;

/** A call with room for less output is not worth starting. */
export const MIN_OUTPUT_TOKENS = 256;
/** Output cap of a call that summarizes a conversation, reasoning included. */
export const COMPACTION_OUTPUT_TOKENS = 8_192;
/** Upper bound of the tokens of a limit notice (`prompts/limits.ts`). */
export const LIMIT_NOTICE_TOKENS = 512;
/** Output of a call if several due calls share the budget. */
export const FAIR_OUTPUT_TOKENS = 1_024;
/** Output reserved for the final presentation while agents coordinate. */
export const PRESENTATION_OUTPUT_TOKENS = 2_048;
/** Upper bound of the tokens of a presentation's system prompt, tool schemas and framing. */
export const PRESENTATION_OVERHEAD_TOKENS = 4_000;
