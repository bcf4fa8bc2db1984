/**
 * The rules of the coordination protocol, as pure functions. The rest of the service imports only
 * this file.
 */
export { byteLength } from "./byte-length";
export { wantsCompaction } from "./call/compaction";
export { decide } from "./decide";
export {
  type Effect,
  type ModelCallEffect,
  placeOfCall,
  type ToolCallEffect,
  type ToolListingEffect,
  callIdPrefix,
} from "./effects";
export { evolve } from "./evolve";
export { isResearch, mayResearch } from "./budget/hosted-tools";
export type { CallFailure, Input, InputBody, Reply, WorkspaceFacts } from "./inputs";
export { BASE } from "./decision/answer";
export { type CapTooSmall, capTooSmall } from "./budget/least-cap";
export { chargesOf, type CallEvent } from "./budget/turn-charges";
export { LIMITS } from "./limits";
export { cutOldest } from "./history/cut-oldest";
export {
  type HistoryFacts,
  type HistoryPlan,
  isSurelyShort,
  lengthRefusal,
  maxSummaryBytes,
  planCompact,
  planHistory,
  type QuestionTooLong,
  transcriptBytes,
} from "./history/plan";
export { type NarrowWindow, windowsAfter } from "./history/narrow-windows";
export { isLongFinal } from "./attempt/long-final";
export { offersOf, WORKFLOW_TOOLS, type WorkflowTool } from "./tool/offers";
export { callInFlight, inFlight, owed } from "./owed";
export { asksForDecision } from "./attempt/round-limits";
export * from "./state";
export { eventsOf, type Step, stateAfter } from "./draft";
export { tallyVotes } from "./decision/vote";
export * from "./queue/queue";
export { afterError, afterRefusal, type AfterRefusal } from "./queue/refused-starts";
export { hasAllListings, changesListing, listingsOf } from "./tool/tool-listings";
export { nextTimerAt } from "./turn/timers";
export { shouldForward } from "./tool/tool-notifications";
export { type HeadRefusal, headOf, headRefusal, parentOfNext } from "./turn/head";
export { overridesRefusal, type OverridesRefusal } from "./turn/turn-team";
export { failInternally, priceRefusal, turnRefusal } from "./turn/turn";
export { CANNOT_REACH } from "./call/unreachable";
export { EMPTY_WORLD, type World } from "./world";
