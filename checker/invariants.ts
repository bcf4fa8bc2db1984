import { answers, limits, novelty, voided } from "./answers";
import { calls, news, tools } from "./effects";
import { cancelled, failed, oneEnd, oneFinal, totals } from "./endings";
import { compaction } from "./compaction";
import { cutReplies } from "./cut-replies";
import { deferrals } from "./deferrals";
import { fallbacks } from "./fallbacks";
import { failures, probes, tries } from "./failures";
import { hosted } from "./hosted";
import { kept } from "./kept";
import { leaving } from "./leaving";
import { listings } from "./listings";
import { caps, ledger } from "./money";
import { numbering } from "./numbering";
import { offers } from "./offers";
import { presentation } from "./presentation";
import { research } from "./research";
import { roundLimits } from "./round-limits";
import { firstAnswer, injections, rounds, shown, undisturbed, waiting } from "./seeing";
import { settlement } from "./settlement";
import { snapshots } from "./snapshots";
import { atMostOnce, oneKey, unknownOnlyIfCut } from "./tool-servers";
import type { Invariant } from "./types";
import { recount, votes } from "./votes";

/** All invariants of a log. I19 needs the rules' own fold and is part of the simulation. */
export const INVARIANTS: readonly Invariant[] = [
  numbering,
  oneFinal,
  oneEnd,
  failed,
  votes,
  recount,
  settlement,
  firstAnswer,
  undisturbed,
  caps,
  deferrals,
  ledger,
  calls,
  cancelled,
  answers,
  cutReplies,
  voided,
  limits,
  novelty,
  shown,
  injections,
  waiting,
  rounds,
  tools,
  news,
  listings,
  atMostOnce,
  unknownOnlyIfCut,
  oneKey,
  snapshots,
  hosted,
  research,
  compaction,
  tries,
  failures,
  probes,
  leaving,
  kept,
  roundLimits,
  offers,
  presentation,
  fallbacks,
  totals,
];
