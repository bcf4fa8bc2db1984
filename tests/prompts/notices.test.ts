import { describe, expect, it } from "vitest";
import { limitNotice } from "../../src/prompts/notices";

/** The fate of a round's files at its limit, in the text for the agent. */
describe("at the limit of a round (D3)", () => {
  it.each([
    { offers: ["new_answer"], says: /Your files are handed over as they are\.$/ },
    {
      offers: ["new_answer", "vote"],
      says: /If you call `new_answer`, your files are handed over as they are; with a vote this round's changes to them are dropped\.$/,
    },
    { offers: ["vote"], says: /Call `vote` now, for the best of the current answers\.$/ },
    { offers: [], says: /Your files are handed over as they are\.$/ },
  ])("an agent that is offered $offers is told the fate of its files", ({ offers, says }) => {
    const notice = limitNotice({ calls_left: 0 }, offers);
    expect(notice).toMatch(says);
    expect(notice).not.toContain("kept as they are");
    expect(Buffer.byteLength(notice)).toBeLessThanOrEqual(512);
  });
});
