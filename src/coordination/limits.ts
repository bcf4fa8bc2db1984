/** The caps of the protocol, in one place. Times in ms, sizes in UTF-8 bytes. */
export const LIMITS = {
  agents: 64,
  roundsPerAgent: 20,
  /** Where the team's rules do not say, as in logs of earlier versions. */
  callsPerRound: 50,
  /** Calls in which only a decision is asked for, after the round's calls or time are used up. */
  decisionCallsPerRound: 3,
  /** The agent is warned when it has this many calls left. */
  callsLeftNotice: 3,
  /** How long an agent has for its decision after its round's time is used up; never longer than the round had. */
  decisionMs: 60_000,
  /** Before a turn or its coordination ends, agents are warned, and then asked for a decision alone; both are shares of the turn's time. */
  lastNoticeMs: 120_000,
  lastNoticeShare: 0.1,
  lastDecisionMs: 60_000,
  lastDecisionShare: 0.05,
  /** Calls and tools of a turn, for each of its agents, and the bounds of the sum. */
  effectsPerAgent: 400,
  effectsMin: 1_000,
  effectsMax: 16_000,
  triesPerCall: 5,
  interruptionsPerCall: 5,
  /** So many failed probes of a provider in a row, the last at least so long after the first, end the agent's part. */
  probesPerCall: 3,
  unreachableMs: 10_000,
  failedRoundsInARow: 3,
  nudgesPerRound: 3,
  toolsPerReply: 64,
  /** Of what a tool of unknown outcome said, as the log shows it. */
  toolMessageBytes: 1_000,
  toolsAtOnce: 8,
  /** How often one server's tools are listed for one agent in a turn; later news of them are left out. */
  listingsPerServer: 8,
  /** How often one call's server is heard about what it wants of a person, and how much of it each time. */
  inputsPerCall: 3,
  requestsPerInput: 5,
  /** How often the progress of one call is told, and the first pause; later ones are longer (`tool-news.ts`). */
  progressPerCall: 20,
  progressPauseMs: 1_000,
  /** Of each text that a tool's server tells people, in UTF-16 code units. */
  newsChars: 2_048,
  /** Lines of one event of the audit trail: so many of the longest paths, as JSON, fit into its row. */
  accessesPerEvent: 600,
  answerBytes: 128 * 1024,
  /** Of all answers of an attempt, replaced ones too: the state of a running turn holds them. Above it nobody gives another. */
  attemptAnswersBytes: 8 * 1024 * 1024,
  finalBytes: 256 * 1024,
  reasonBytes: 4 * 1024,
  /** Of a cancelled turn's answer and text together, as JSON: both lie in one event, and that in one row. */
  cancelledJsonBytes: 1_700_000,
  /** A provider that asks for a longer wait is treated as out of quota. */
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
  /** Above this share of the window a conversation is not extended by an update: a fresh round starts. */
  contextShare: 0.75,
  /** Above this share of the window a conversation is summed up before its next call. */
  fullShare: 0.85,
} as const;

/** A call that could not write at least this much is not worth starting. */
export const MIN_OUTPUT_TOKENS = 256;
/** The most that a call which sums up a conversation may write; reasoning counts too. */
export const COMPACTION_OUTPUT_TOKENS = 8_192;
/** What a call says of its round's limits, as an upper bound in tokens (`prompts/limits.ts`). */
export const LIMIT_NOTICE_TOKENS = 512;
/** What a call gets when the budget is shared among several that are due. */
export const FAIR_OUTPUT_TOKENS = 1_024;
/** Output set aside for the final presentation while agents still coordinate. */
export const PRESENTATION_OUTPUT_TOKENS = 2_048;
/** System prompt, tool schemas and framing of a presentation, as an upper bound in tokens. */
export const PRESENTATION_OVERHEAD_TOKENS = 4_000;
