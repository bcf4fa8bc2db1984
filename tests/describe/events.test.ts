import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { describeEvent, type Sentence } from "../../src/describe/events";
import { WireEventSchema } from "../../src/protocol/events";
import { apply, emptyView, turnOf } from "../../src/protocol/view";
import * as b from "../protocol/builders";

/** The sentence for the last of these events. */
function sentenceOf(bodies: readonly b.Body[]): Sentence | null {
  const events = b.log([...bodies]);
  const [event, turn] = [events.at(-1), turnOf(b.view(events))];
  return event && turn ? describeEvent(event, turn) : null;
}

const firstEvents = b.story.slice(0, 6);

describe("the sentence for an event", () => {
  it.each([
    {
      name: "has the agent's name and the text in separate fields",
      body: b.answered("anna", "agent1.1", 1, "12345"),
      sentence: { agent: "anna", text: " answers: agent1.1 (5 characters)", tone: "good" },
    },
    {
      name: "begins with `'s` after the name if a vote is ignored",
      body: b.voteStale("anna", "agent2.1", ["agent2.2"]),
      sentence: {
        agent: "anna",
        text: "'s vote for agent2.1 ignored: agent2.2 arrived meanwhile",
        tone: "plain",
      },
    },
    {
      name: "has no agent if the event has none",
      body: b.votesCleared("agent2.2", ["anna", "agent2.1"], ["ben", "agent2.1"]),
      sentence: {
        agent: null,
        text: "new answer agent2.2: the votes of anna, ben no longer count",
        tone: "plain",
      },
    },
    {
      name: "is missing for an event that is not worth a sentence",
      body: b.delta("anna", { call: "c", offset: 0, text: "x" }),
      sentence: null,
    },
  ])("$name", ({ body, sentence }) => {
    expect(sentenceOf([...firstEvents, body])).toEqual(sentence);
  });
});

const GOLDEN = "proof/golden";

it("events of the golden logs can all be described, and no sentence is empty", async () => {
  const files = (await readdir(GOLDEN)).filter((name) => name.endsWith(".jsonl"));
  const described = new Set<string>();
  for (const file of files) {
    const view = emptyView();
    const lines = (await readFile(`${GOLDEN}/${file}`, "utf8")).trim().split("\n");
    for (const [index, line] of lines.entries()) {
      const numbered = { ...JSON.parse(line), sequence_number: index + 1, session_id: b.SESSION };
      const event = WireEventSchema.parse(numbered);
      const turn = turnOf(apply(view, event), event.turn);
      const sentence = turn ? describeEvent(event, turn) : null;
      if (!sentence) continue;
      expect(sentence.text.trim(), file).not.toBe("");
      described.add(event.type);
    }
  }
  expect([...described]).toEqual(
    expect.arrayContaining(["turn.started", "vote.cast", "attempt.settled"]),
  );
});
