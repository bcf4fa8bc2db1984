import { describe, expect, it } from "vitest";
import { NO_USAGE } from "../../src/protocol/usage";
import {
  distinctCitations,
  hostedFields,
  shortCitation,
  shortUse,
  withHostedUses,
} from "../../src/providers/hosted";

const use = { name: "web_search", input: "a query", outcome: "ok", output: "" } as const;
const cited = (url: string, title = "", text?: string) => ({
  url,
  title,
  ...(text !== undefined && { text }),
});

describe("the record of hosted tools", () => {
  it("omits empty parts", () => {
    expect(hostedFields([], [])).toEqual({});
    expect(hostedFields([use], [])).toEqual({ hosted: [use] });
    expect(hostedFields([], [cited("https://a.example")])).toEqual({
      citations: [cited("https://a.example")],
    });
  });

  it("shortens inputs and outputs to their limits and marks the cut", () => {
    const { input, output } = shortUse({
      ...use,
      input: "i".repeat(4_001),
      output: "o".repeat(16_001),
    });
    expect([input.length, output.length]).toEqual([4_000, 16_000]);
    expect([input.at(-1), output.at(-1)]).toEqual(["…", "…"]);
  });

  it("keeps a text whose length equals the limit", () => {
    const whole = { ...use, input: "i".repeat(4_000) };
    expect(shortUse(whole)).toEqual(whole);
  });

  it("does not split a character", () => {
    expect(shortUse({ ...use, input: `${"i".repeat(3_998)}😀😀` }).input).toBe(
      `${"i".repeat(3_998)}…`,
    );
  });

  it("keeps the first 64 uses", () => {
    const uses = Array.from({ length: 70 }, (_, n) => ({ ...use, input: `query ${n}` }));
    const { hosted } = hostedFields(uses, []);
    expect(hosted?.length).toBe(64);
    expect(hosted?.[0]?.input).toBe("query 0");
  });
});

describe("the record of citations", () => {
  it("shortens titles and texts", () => {
    const short = shortCitation(cited("https://a.example", "t".repeat(301), "x".repeat(501)));
    expect([short?.title.length, short?.text?.length]).toEqual([300, 500]);
  });

  it.each([
    { name: "a script", url: "javascript:alert(1)" },
    { name: "nothing", url: "" },
    {
      name: "a URL that is too long to follow when cut",
      url: `https://a.example/${"p".repeat(2_000)}`,
    },
  ])("drops a citation of $name", ({ url }) => {
    expect(shortCitation(cited(url))).toBeNull();
  });

  it("lists each page once, at its first citation, with the details of all its citations", () => {
    const citations = [
      cited("https://a.example"),
      cited("https://b.example", "B"),
      cited("https://a.example", "A", "passage"),
    ];
    expect(distinctCitations(citations)).toEqual([
      cited("https://a.example", "A", "passage"),
      cited("https://b.example", "B"),
    ]);
  });

  it("keeps the first 100 pages", () => {
    const citations = Array.from({ length: 120 }, (_, n) => cited(`https://a.example/${n}`));
    expect(distinctCitations(citations)).toEqual(citations.slice(0, 100));
  });
});

describe("charged uses", () => {
  it("are counted in the usage by tool, without unused tools", () => {
    expect(withHostedUses(NO_USAGE, { web_search: 2, code_execution: 0 })).toEqual({
      ...NO_USAGE,
      hosted_uses: { web_search: 2 },
    });
    expect(withHostedUses(NO_USAGE, { web_search: 0 })).toEqual(NO_USAGE);
  });
});
