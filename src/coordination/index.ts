/** The rules of the coordination protocol: pure, and all that the rest of the service needs to know of them. */
export { byteLength } from "./byte-length";
export { wantsCompaction } from "./compaction";
export { decide } from "./decide";
export {
  type Effect,
  type ModelCallEffect,
  placeOfCall,
  type ToolCallEffect,
  type ToolListingEffect,
  triedCall,
} from "./effects";
export { evolve } from "./evolve";
export { isResearch, mayResearch } from "./hosted-tools";
export type { CallFailure, Input, InputBody, Reply, WorkspaceFacts } from "./inputs";
export { BASE } from "./labels";
export { type CapTooSmall, capTooSmall } from "./least-cap";
export { LIMITS } from "./limits";
export { isLongFinal } from "./long-final";
export { offersOf, WORKFLOW_TOOLS, type WorkflowTool } from "./offers";
export { callInFlight, inFlight, owed } from "./owed";
export { asksForDecision } from "./round-limits";
export * from "./state";
export { SteadyClock } from "./steady-clock";
export { count } from "./tally";
export { isListed, isNews, listingsOf } from "./tool-listings";
export { nextTimerAt } from "./timers";
export { isWorthTelling } from "./tool-news";
export { failInternally } from "./turn-end";
export { CANNOT_REACH } from "./unreachable";
