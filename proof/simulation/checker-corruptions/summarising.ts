import { changes, hides, repeats } from "./corruptions";
import type { Row } from "./row";

const SUMMARISED = "summarised";
/** The turn whose summary is written, and the turn whose summary fails. */
const [WRITTEN, FAILED] = [3, 4];
const BYTES = 153_600;

/** Corruptions of summaries of earlier turns. */
export const SUMMARISING: readonly Row[] = [
  {
    name: "a summary of other turns than planned",
    script: SUMMARISED,
    corruption: changes("history.summarised", { turns: [1, 2] }),
    invariant: "history",
  },
  {
    name: "a summary of a turn that its turn does not continue",
    script: SUMMARISED,
    corruption: changes("history.summarised", { turns: [3] }),
    invariant: "history",
  },
  {
    name: "a summary that is written twice",
    script: SUMMARISED,
    corruption: repeats("history.summarised"),
    invariant: "history",
  },
  {
    name: "an empty summary",
    script: SUMMARISED,
    corruption: changes("history.summarised", { text: " " }),
    invariant: "history",
  },
  {
    name: "a summary of an agent that was not to write it",
    script: SUMMARISED,
    corruption: changes("history.summarised", { agent: "bela" }),
    invariant: "history",
  },
  {
    name: "a summary that continues another one than the longest",
    script: SUMMARISED,
    corruption: changes("history.summarised", { after: 2 }),
    invariant: "history",
  },
  {
    name: "agents that begin before the planned summary",
    script: SUMMARISED,
    corruption: hides("history.summarised"),
    invariant: "history",
  },
  {
    name: "a turn that does not use the summary of its branch",
    script: SUMMARISED,
    corruption: changes(
      "turn.started",
      { history: { bytes: BYTES, summarises: { turns: [1, 2], agent: "ada" } } },
      FAILED,
    ),
    invariant: "history",
  },
  {
    name: "a planned summary of turns that have one already",
    script: SUMMARISED,
    corruption: changes(
      "turn.started",
      { history: { bytes: BYTES, summary: 1, summarises: { turns: [1], agent: "ada" } } },
      FAILED,
    ),
    invariant: "history",
  },
  {
    name: "a planned summary that leaves out a turn of its branch",
    script: SUMMARISED,
    corruption: changes(
      "turn.started",
      { history: { bytes: BYTES, summary: 1, summarises: { turns: [2], agent: "ada" } } },
      FAILED,
    ),
    invariant: "history",
  },
  {
    name: "texts that are cut although no summary was planned",
    script: SUMMARISED,
    corruption: changes("turn.started", { history: { bytes: BYTES, summary: 1 } }, FAILED),
    invariant: "history",
  },
  {
    name: "a turn that only summarises, and plans no summary",
    script: SUMMARISED,
    corruption: changes("turn.started", { kind: "compact", history: { bytes: BYTES } }, WRITTEN),
    invariant: "history",
  },
];
