import { describe, expect, it } from "vitest";
import { limitNotice } from "../../src/prompts/notices";

/** The notice says what happens to the files of a round that ends at its limit. */
describe("at the limit of a round (D3)", () => {
  it.each([
    { offers: ["new_answer"], expected: /Your files are handed over as they are\.$/ },
    {
      offers: ["new_answer", "vote"],
      expected:
        /If you call `new_answer`, your files are handed over as they are; with a vote this round's changes to them are dropped\.$/,
    },
    { offers: ["vote"], expected: /Call `vote` now, for the best of the current answers\.$/ },
    { offers: [], expected: /Your files are handed over as they are\.$/ },
  ])(
    "the notice with the offers $offers says what happens to the agent's files",
    ({ offers, expected }) => {
      const notice = limitNotice({ calls_left: 0 }, offers);
      expect(notice).toMatch(expected);
      expect(notice).not.toContain("kept as they are");
      expect(Buffer.byteLength(notice)).toBeLessThanOrEqual(512);
    },
  );
});
