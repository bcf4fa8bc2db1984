/** Limits of the protocol. Times in ms, sizes in UTF-8 bytes. */
export const LIMITS = {
  /** Agents of a team. */
  agents: 64,
  /** Rounds of an agent in one attempt. */
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
  /** Before a turn or its coordination ends, agents get a notice. */
  lastNoticeMs: 120_000,
  /** As `lastNoticeMs`, as a share of the turn's time; the shorter time applies. */
  lastNoticeShare: 0.1,
  /** Before a turn or its coordination ends, calls ask only for a decision. */
  lastDecisionMs: 60_000,
  /** As `lastDecisionMs`, as a share of the turn's time; the shorter time applies. */
  lastDecisionShare: 0.05,
  /** Calls and tools of a turn, per agent of the team. */
  effectsPerAgent: 400,
  /** Lower bound of the calls and tools of a turn. */
  effectsMin: 1_000,
  /** Upper bound of the calls and tools of a turn. */
  effectsMax: 16_000,
  /** Tries of a call before the round fails. */
  triesPerCall: 5,
  /** Interruptions by restarts before a call fails or a tool is no longer repeated. */
  interruptionsPerCall: 5,
  /**
   * The agent fails after this many failed probes of a provider in a row, if they span at least
   * `unreachableMs`.
   */
  probesPerCall: 3,
  /** Time that the failed probes of a provider must span. */
  unreachableMs: 10_000,
  /** The agent fails after this many failed rounds in a row. */
  failedRoundsInARow: 3,
  /** Reminders to decide per round. */
  nudgesPerRound: 3,
  /** Tool calls of one reply that may run; further ones are refused. */
  toolsPerReply: 64,
  /** Maximum length in the log of a message from a tool with unknown outcome. */
  toolMessageBytes: 1_000,
  /** Tools of one agent that run at the same time. */
  toolsAtOnce: 8,
  /** Listings of one server for one agent in a turn. Later changes are ignored. */
  listingsPerServer: 8,
  /** Elicitations that are forwarded per tool call. */
  inputsPerCall: 3,
  /** Requests to a person that are forwarded of one elicitation. */
  requestsPerInput: 5,
  /** Progress notifications that are forwarded per tool call. */
  progressPerCall: 20,
  /**
   * Pause after the first progress notification; later pauses grow
   * (`src/coordination/tool/tool-notifications.ts`).
   */
  progressPauseMs: 1_000,
  /**
   * Maximum length of each text from a tool server that is shown to people, in UTF-16 code units.
   */
  notificationChars: 2_048,
  /**
   * Lines of one audit event. This many lines with the longest paths, as JSON, fit into one row.
   */
  accessesPerEvent: 600,
  /** Size of an answer. */
  answerBytes: 128 * 1024,
  /**
   * Total size of an attempt's answers, replaced ones included: the state of a running turn holds
   * them. Above it no further answer is accepted.
   */
  attemptAnswersBytes: 8 * 1024 * 1024,
  /** Size of a final text as shown; a longer text is cut and stored as a file. */
  finalBytes: 256 * 1024,
  /** Size of a vote's reason. */
  reasonBytes: 4 * 1024,
  /**
   * Total size of a cancelled turn's answer and text as JSON: one event, stored in one row, holds
   * both.
   */
  cancelledJsonBytes: 1_700_000,
  /** A provider that asks for a longer wait counts as out of quota. */
  retryAfterMs: 60_000,
  /** Base of the exponential back-off. */
  backoffBaseMs: 500,
  /** Longest delay of the exponential back-off. */
  backoffCapMs: 30_000,
  /** Grace time after the team's second answer, as a share of the time until then. */
  graceShare: 0.1,
  /** Shortest grace time. */
  graceMinMs: 250,
  /** Longest grace time. */
  graceMaxMs: 5_000,
  /** Share of the attempt's time in which personas must be written. */
  personasShare: 0.1,
  /** Longest time for writing personas. */
  personasMaxMs: 120_000,
  /** Share of the turn's time that is kept for the presentation. */
  presentationShare: 0.2,
  /** Longest time that is kept for the presentation. */
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
/**
 * Useful output of one call. If several due calls share the budget, a call may exceed its share up
 * to this output.
 */
export const USEFUL_OUTPUT_TOKENS = 1_024;
/** Output reserved for the final presentation while agents coordinate. */
export const PRESENTATION_OUTPUT_TOKENS = 2_048;
/** Upper bound of the tokens of a presentation's system prompt, tool schemas and framing. */
export const PRESENTATION_OVERHEAD_TOKENS = 4_000;
