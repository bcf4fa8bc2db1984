import { answers, answerLimits, novelty, voidedVotes } from "./answers";
import { calls, toolNotifications, tools } from "./effects";
import { cancelledTurns, failedTurns, oneEnd, oneFinal, totals } from "./endings";
import { compaction } from "./compaction";
import { cutReplies } from "./cut-replies";
import { deferrals } from "./deferrals";
import { fallbacks } from "./fallbacks";
import { failingMembers } from "./failing-members";
import { failures, probes, retries } from "./failures";
import { history } from "./history";
import { hostedTools } from "./hosted";
import { keptTexts } from "./kept";
import { dropOuts } from "./leaving";
import { listings } from "./listings";
import { budgetCaps, providerLedger } from "./money";
import { numbering } from "./numbering";
import { offers } from "./offers";
import { presentation } from "./presentation";
import { research } from "./research";
import { roundLimits } from "./round-limits";
import { firstAnswer, injections, rounds, shownAnswers, undisturbedFirstRounds } from "./seeing";
import { settlement } from "./settlement";
import { snapshots } from "./snapshots";
import { atMostOnce, oneKey, unknownOnlyIfCut } from "./tool-servers";
import { turnTeams } from "./turn-team";
import type { Invariant } from "./types";
import { recount, votes } from "./votes";
import { waitingAgents } from "./waiting";

/** All invariants of a log. The simulation checks I19, because I19 needs the code of the rules. */
export const INVARIANTS: readonly Invariant[] = [
  numbering,
  turnTeams,
  history,
  oneFinal,
  oneEnd,
  failedTurns,
  votes,
  recount,
  settlement,
  firstAnswer,
  undisturbedFirstRounds,
  budgetCaps,
  deferrals,
  providerLedger,
  calls,
  cancelledTurns,
  answers,
  cutReplies,
  voidedVotes,
  answerLimits,
  novelty,
  shownAnswers,
  injections,
  waitingAgents,
  rounds,
  tools,
  toolNotifications,
  listings,
  atMostOnce,
  unknownOnlyIfCut,
  oneKey,
  snapshots,
  hostedTools,
  research,
  compaction,
  retries,
  failures,
  probes,
  failingMembers,
  dropOuts,
  keptTexts,
  roundLimits,
  offers,
  presentation,
  fallbacks,
  totals,
];
