import { outgrowsMidway, refusesOver, seemsFull, worksAtLength } from "./long-work";
import type { Script } from "./reply";

/**
 * Models whose conversations become larger than their context window. The tests that run in workerd
 * use them by name.
 */
export const LONG_WORKERS: Readonly<Record<string, Script>> = {
  lengthy: refusesOver(
    12_000,
    worksAtLength({ steps: 8, size: 8_000, answer: "It is 42: all the steps say so." }),
  ),
  pensive: refusesOver(
    12_000,
    worksAtLength({
      steps: 6,
      size: 8_000,
      answer: "It is 42, on reflection.",
      summaryPace: { ttftMs: 1_500 },
    }),
  ),
  // An unlisted model has an assumed context window of 128,000 tokens.
  brimming: seemsFull(
    115_000,
    "step-3",
    worksAtLength({ steps: 6, size: 16_000, answer: "It is 42, in short." }),
  ),
  gushing: outgrowsMidway("It is 42.", "Six rows of seven, counted one by one"),
  overlong: refusesOver(2_000, worksAtLength({ steps: 3, size: 8_000, answer: "Never said." })),
};
