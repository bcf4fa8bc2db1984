import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, detailsOf, teamWith } from "./teams";

const said = (ownOrigins: string[], backend = "type: claude\nmodel: claude-opus-5-5") =>
  detailsOf(parseTeam(teamWith(backend), { ...CONTEXT, ownOrigins })).join(" ");

const NAMED = "type: claude\nmodel: claude-opus-5-5\napi_key: ${ANTHROPIC_API_KEY}";
const LOCALLY = "ANTHROPIC_API_KEY in .dev.vars";
const DEPLOYED = "`npx wrangler secret put ANTHROPIC_API_KEY`";

describe("a key that is not set", () => {
  it.each([
    { name: "a service on this machine", origins: ["http://127.0.0.1:8787"] },
    { name: "one whose allowed origins say so", origins: ["http://localhost:*"] },
  ])("is to be set in .dev.vars first at $name", ({ origins }) => {
    for (const detail of [said(origins), said(origins, NAMED)]) {
      expect(detail).toContain(LOCALLY);
      expect(detail.indexOf(DEPLOYED)).toBeGreaterThan(detail.indexOf(LOCALLY));
    }
  });

  it("is to be set as a secret of a deployed service first", () => {
    const detail = said(["https://massgen.example.com"]);
    expect(detail).toContain(DEPLOYED);
    expect(detail.indexOf(".dev.vars")).toBeGreaterThan(detail.indexOf(DEPLOYED));
  });

  it("may be written in the config if the config names none", () => {
    expect(said([])).toContain("api_key");
    expect(said([], NAMED)).not.toContain("api_key");
  });
});
