/** Limits of the protocol. If a comment gives no unit, times are in ms and sizes in UTF-8 bytes. */
export const LIMITS = {
  /** Maximum number of agents in a team. */
  agents: 64,
  /** Maximum number of rounds of an agent in one attempt. */
  roundsPerAgent: 20,
  /** Calls per round if the team's rules have no such limit, as in logs of earlier versions. */
  callsPerRound: 50,
  /** Maximum number of calls that ask only for a decision, after a round reached its limit. */
  decisionCallsPerRound: 3,
  /** An agent's calls contain a notice when it has at most this many calls left. */
  callsLeftNotice: 3,
  /**
   * Time for a decision after the round's time is used up. Never longer than the round's own time.
   */
  decisionMs: 60_000,
  /** How long before the end of a turn, or of its coordination, calls contain a notice. */
  lastNoticeMs: 120_000,
  /** `lastNoticeMs` as a share of the turn's time. The shorter of both times applies. */
  lastNoticeShare: 0.1,
  /** How long before the end of a turn, or of its coordination, calls ask only for a decision. */
  lastDecisionMs: 60_000,
  /** `lastDecisionMs` as a share of the turn's time. The shorter of both times applies. */
  lastDecisionShare: 0.05,
  /** Model calls and tool calls of a turn, for each agent of the team. */
  effectsPerAgent: 400,
  /** The limit of a turn's model calls and tool calls is at least this. */
  effectsMin: 1_000,
  /** The limit of a turn's model calls and tool calls is at most this. */
  effectsMax: 16_000,
  /** The round fails after this many failed tries of a call. */
  triesPerCall: 5,
  /** After this many interruptions by restarts, a call fails and a tool is not repeated again. */
  interruptionsPerCall: 5,
  /**
   * After this many failed probes of a provider in a row, the agent fails, if the first and the
   * last of them are at least `unreachableMs` apart.
   */
  probesPerCall: 3,
  /** Minimum time between the first failed probe of a provider and the last. */
  unreachableMs: 10_000,
  /** The agent fails after this many failed rounds in a row. */
  failedRoundsInARow: 3,
  /** Maximum number of reminders to decide in one round. */
  nudgesPerRound: 3,
  /** Maximum number of tool calls of one reply that may run. Further tool calls are refused. */
  toolsPerReply: 64,
  /** Maximum length in the log of a message from a tool with unknown outcome. */
  toolMessageBytes: 1_000,
  /** Maximum number of tools of one agent that run at the same time. */
  toolsAtOnce: 8,
  /** Maximum number of listings of one server for one agent in a turn. Later ones are ignored. */
  listingsPerServer: 8,
  /** Maximum number of elicitations of one tool call that are forwarded to people. */
  inputsPerCall: 3,
  /** Maximum number of requests in one elicitation that are forwarded to people. */
  requestsPerInput: 5,
  /** Maximum number of progress notifications of one tool call that are forwarded to people. */
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
   * Maximum number of lines in one audit event. The event is stored in one row, and this many lines
   * with the longest paths fit into a row.
   */
  accessesPerEvent: 600,
  /** Maximum size of an answer. */
  answerBytes: 128 * 1024,
  /**
   * Maximum total size of an attempt's answers, including replaced ones. The state of a running
   * turn contains all of them, so above this size no further answer is accepted.
   */
  attemptAnswersBytes: 8 * 1024 * 1024,
  /** Maximum size of a final text as shown. A longer text is cut, and stored as a file. */
  finalBytes: 256 * 1024,
  /** Maximum size of a vote's reason. */
  reasonBytes: 4 * 1024,
  /**
   * Maximum total size of a cancelled turn's answer and text as JSON. One event contains both, and
   * it is stored in one row.
   */
  cancelledJsonBytes: 1_700_000,
  /** A call is not retried if its provider asks for a longer wait. */
  retryAfterMs: 60_000,
  /** Shortest delay before the second try of a call. */
  quickRetryMinMs: 100,
  /** Longest delay before the second try of a call. */
  quickRetryMaxMs: 300,
  /** Base of the exponential back-off. */
  backoffBaseMs: 500,
  /** Longest delay of the exponential back-off. */
  backoffCapMs: 30_000,
  /**
   * Grace time after the team's second answer, as a share of the attempt's time up to this answer.
   */
  graceShare: 0.1,
  /** Shortest grace time. */
  graceMinMs: 250,
  /** Longest grace time. */
  graceMaxMs: 5_000,
  /** Number of agents from which the grace time of a new team follows the pace of its answers. */
  pacedGraceAgents: 8,
  /**
   * Paced grace time after a first answer, in mean gaps between first answers. Each missing answer
   * adds one gap.
   */
  pacedGraceGaps: 3,
  /** Longest paced grace time, as a share of the attempt's time up to the answer. */
  pacedGraceShare: 0.15,
  /** Shortest paced grace time. */
  pacedGraceMinMs: 100,
  /** Longest paced grace time. */
  pacedGraceMaxMs: 30_000,
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
  /** Share of the team's smallest window that the text of earlier turns may fill in a prompt. */
  historyShare: 0.4,
  /** Share of the window that earlier turns may fill at least, even if the question is long. */
  historyMinShare: 0.05,
  /** Maximum size of a summary of earlier turns. */
  summaryBytes: 24 * 1024,
  /** Share of the turn's time in which the summary of earlier turns must be written. */
  summaryShare: 0.2,
  /** Longest time for writing the summary of earlier turns. */
  summaryMaxMs: 180_000,
} as const;

/** A call is not started if the budget allows less output. */
export const MIN_OUTPUT_TOKENS = 256;
/** Output cap of a call that summarizes a conversation or earlier turns, reasoning included. */
export const COMPACTION_OUTPUT_TOKENS = 8_192;
/** Upper bound of the tokens of a limit notice (`src/prompts/notices.ts`). */
export const LIMIT_NOTICE_TOKENS = 512;
/**
 * Useful output of one call. If several due calls share the budget, a call may exceed its share up
 * to this output.
 */
export const USEFUL_OUTPUT_TOKENS = 1_024;
/** Output reserved for the final presentation while agents coordinate. */
export const PRESENTATION_OUTPUT_TOKENS = 2_048;
/** Upper bound of the tokens of a presentation's system prompt, tool schemas and fixed texts. */
export const PRESENTATION_OVERHEAD_TOKENS = 4_000;
