import { modelOf } from "../../../tests/e2e/support/formats";
import { STORY_AGENTS, storyAt, storyModels } from "../../../tests/e2e/support/story";
import { LIMITS } from "../../../src/coordination/limits";
import { worksOnFiles } from "../../../simulated/providers/coding";
import { refusesOver, worksAtLength } from "../../../simulated/providers/long-work";
import type { Script } from "../../../simulated/providers/reply";
import {
  alwaysFails,
  answersThenVotes,
  byStage,
  hangs,
  newAnswer,
  paced,
  rejects,
  vote,
} from "../../../simulated/providers/scripts";

/** The models of all kinds of runs, and the answers and files that these models write. */

/** At this speed, the story takes about two seconds. */
const SPEED = 2.8;
export const YES = "Yes, at 100 °C.";
const SOUGHT = "At 100 °C, as may be read.";
const NOT_YET = { reason: "It says nothing of the pot.", instructions: "Mention the pot." };

const quick = answersThenVotes({ answer: YES, presentation: YES });
/** Questions with these words get an answer from the model `hesitant`; others never do. */
export const BRIEFLY = "Answer briefly";
const hesitant: Script = (situation) =>
  (situation.question.startsWith(BRIEFLY) ? quick : hangs("body"))(situation);

const rejecting = paced({ ttftMs: 60, tokensPerSecond: 300 }, rejects(NOT_YET, quick));

/** Answers only after the session's alarm has fired once, ten seconds after the start. */
const late = byStage({
  answering: paced({ ttftMs: 11_000 }, quick),
  deciding: quick,
  presenting: quick,
});

export const DIALECTS = { swift: "openai-responses", steady: "anthropic", slow: "gemini" } as const;

/** The files of the winner in the kind `files`. */
export const BUILT = { "NOTES.md": "Run src/boil.sh.\n", "src/boil.sh": "echo $((50 * 2))\n" };
/**
 * Writes a script and runs it, reads its peers' files before its vote, and adds notes while it
 * presents.
 */
const builder = worksOnFiles({
  first: [
    ["write_file", { path: "src/boil.sh", content: BUILT["src/boil.sh"] }],
    ["run_command", { command: "sh src/boil.sh > /tmp/out && cat /tmp/out && ls -R" }],
  ],
  answer: "At 100 °C: run src/boil.sh, which works it out, and see for yourself.",
  beforeVote: [["run_command", { command: "grep -rn echo /peers" }]],
  last: [["write_file", { path: "NOTES.md", content: BUILT["NOTES.md"] }]],
});
const looker = worksOnFiles({
  first: [["write_file", { path: "src/other.txt", content: "hundred" }]],
  answer: YES,
  beforeVote: [["read_file", { path: "/peers/{best}/src/boil.sh" }]],
});
/** 1.2 MB: too large for a database row, so R2 has the file before the answer is submitted. */
export const HEAP = {
  heap: `${Array.from({ length: 9_000 }, (_, nth) => nth + 1).join("\n")}\n`.repeat(28),
};
const hoarder = worksOnFiles({
  first: [
    [
      "run_command",
      {
        command:
          "seq 1 9000 > a && cat a a a a > b && for i in 1 2 3 4 5 6 7; do cat b >> heap; done; rm a b",
      },
    ],
  ],
  answer: "At 100 °C, which is among all the numbers of the heap.",
});
/**
 * Calls tools before its answer, its vote and its presentation. `place_order` is not repeatable.
 */
const buyer = worksOnFiles({
  first: [
    ["place_order", { text: "a pot" }],
    ["write_note", { text: "a pot is ordered" }],
    ["place_order", { text: "a lid" }],
  ],
  answer: YES,
  beforeVote: [["write_note", { text: "voted" }]],
  last: [["place_order", { text: "water" }]],
});
/** Makes each mistake once for which the service refuses or nudges it, then answers correctly. */
const clumsy = byStage({
  answering: ({ callIndex }) => {
    if (callIndex === 0) return { text: "Let me see." };
    return newAnswer(callIndex === 1 ? "" : "At 100 °C.");
  },
  deciding: (situation) =>
    situation.callIndex === 0 ? vote(situation, { voteFor: () => "agent9" }) : vote(situation),
  presenting: () => ({ text: YES }),
});
/** Searches before its presentation and cites the source. */
const searcher = byStage({
  answering: () => newAnswer(SOUGHT),
  deciding: (situation) => vote(situation),
  presenting: () => ({
    hosted: [{ name: "web_search", input: "boiling point", output: "100 °C" }],
    text: SOUGHT,
    citations: [{ url: "https://example.com/water", title: "Water" }],
  }),
});
/** Its summaries of earlier turns fail. */
const speechless: Script = (situation) =>
  situation.stage === "summary" ? alwaysFails(400)(situation) : quick(situation);

/** Its conversation exceeds the model's context twice. */
const lengthy = refusesOver(12_000, worksAtLength({ steps: 6, size: 8_000, answer: "At 100 °C." }));

/** Calls a tool that is not known to be repeatable, before its answer and in its presentation. */
const adder = worksOnFiles({
  first: [["mcp__box__add", { a: 50, b: 50 }]],
  answer: "At 100 °C, which a tool has added up of twice fifty.",
  last: [["mcp__box__add", { a: 99, b: 1 }]],
});
/** Also calls a tool server that asks a person. The person gives no answer. */
const asker = worksOnFiles({
  first: [
    ["mcp__box__add", { a: 50, b: 50 }],
    ["mcp__desk__ask", {}],
  ],
  answer: "At 100 °C, for all that the desk would not say.",
});
/** The answer of `waiter` and `queuer`: each waits for the reply of a tool that never replies. */
const NOTHING_CAME = "At 100 °C, though nothing came.";
const waiter = worksOnFiles({
  first: [["await_delivery", { text: "a pot" }]],
  answer: NOTHING_CAME,
});
const queuer = worksOnFiles({ first: [["mcp__queue__wait", {}]], answer: NOTHING_CAME });

const look = (): [string, Record<string, unknown>] => ["list_directory", {}];
/**
 * Lists files instead of a vote until its limit of calls. If the other agent voted for this agent,
 * it presents.
 */
const restless = worksOnFiles({
  answer: YES,
  beforeVote: Array.from({ length: LIMITS.callsPerRound + 1 }, look),
  final: { text: YES },
});

export const SEARCHING = modelOf("anthropic", "searching");

/** The models of all kinds. */
export const MODELS: Readonly<Record<string, Script>> = {
  ...storyModels(SPEED),
  ...Object.fromEntries(
    STORY_AGENTS.map(({ id }) => [modelOf(DIALECTS[id], `story-${id}`), storyAt(SPEED)[id]]),
  ),
  ...Object.fromEntries(STORY_AGENTS.map(({ id }) => [`unpriced-${id}`, storyAt(SPEED)[id]])),
  rejecting,
  quick: paced({ ttftMs: 80, tokensPerSecond: 100 }, quick),
  quicker: paced({ ttftMs: 60, tokensPerSecond: 200 }, quick),
  speechless: paced({ ttftMs: 80, tokensPerSecond: 100 }, speechless),
  hesitant: paced({ ttftMs: 80, tokensPerSecond: 100 }, hesitant),
  late,
  refused: paced({ ttftMs: 30 }, alwaysFails(401)),
  mute: hangs("headers"),
  buyer: paced({ ttftMs: 40, tokensPerSecond: 200 }, buyer),
  hoarder: paced({ ttftMs: 60, tokensPerSecond: 200 }, hoarder),
  builder: paced({ ttftMs: 60, tokensPerSecond: 200 }, builder),
  asker: paced({ ttftMs: 60, tokensPerSecond: 200 }, asker),
  waiter: paced({ ttftMs: 60, tokensPerSecond: 200 }, waiter),
  queuer: paced({ ttftMs: 60, tokensPerSecond: 200 }, queuer),
  restless: paced({ ttftMs: 5 }, restless),
  adder: paced({ ttftMs: 60, tokensPerSecond: 200 }, adder),
  clumsy: paced({ ttftMs: 60, tokensPerSecond: 200 }, clumsy),
  filtered: paced({ ttftMs: 60 }, () => ({ text: "I", finishReason: "content_filter" })),
  [SEARCHING]: paced({ ttftMs: 60, tokensPerSecond: 200 }, searcher),
  lengthy: paced({ ttftMs: 30 }, lengthy),
  looker: paced({ ttftMs: 60, tokensPerSecond: 200 }, looker),
};
