import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, detailsOf, teamWith } from "./teams";

const said = (ownOrigins: string[], backend = "type: claude\nmodel: claude-opus-5-5") =>
  detailsOf(parseTeam(teamWith(backend), { ...CONTEXT, ownOrigins })).join(" ");

describe("a key that is not set", () => {
  it.each([
    { name: "a service on this machine", origins: ["http://127.0.0.1:8787"] },
    { name: "one whose allowed origins say so", origins: ["http://localhost:*"] },
  ])("is to be set in .dev.vars first at $name", ({ origins }) => {
    const ways =
      "set ANTHROPIC_API_KEY in .dev.vars (deployed: with `npx wrangler secret put ANTHROPIC_API_KEY`)";
    expect(said(origins)).toContain(`Anthropic needs a key: ${ways}, or write api_key.`);
    expect(
      said(origins, "type: claude\nmodel: claude-opus-5-5\napi_key: ${ANTHROPIC_API_KEY}"),
    ).toContain(`is not set: ${ways}.`);
  });

  it("is to be set as a secret of a deployed service", () => {
    expect(said(["https://massgen.example.com"])).toContain(
      "set ANTHROPIC_API_KEY with `npx wrangler secret put ANTHROPIC_API_KEY` (locally in .dev.vars), or write api_key.",
    );
  });
});
